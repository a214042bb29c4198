/** A modal dialog. The browser traps the focus inside, closes the dialog with Escape and restores the focus. */
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  /** Called after the dialog was closed in any way; the component that shows it must then remove it. */
  readonly onClose: () => void;
  readonly children: (close: () => void) => ComponentChildren;
}

export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  const onClosed = () => {
    // The element that opened the dialog may be gone.
    if (document.activeElement === document.body) document.querySelector<HTMLElement>('h1')?.focus();
    onClose();
  };
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClosed}>
      <h2 id={id}>{title}</h2>
      {children(() => dialog.current?.close())}
    </dialog>
  );
}
