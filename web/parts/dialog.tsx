/** A modal dialog. The browser holds the focus inside, closes it with Escape and gives the focus back. */
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  /** When it has been closed, by whichever way: the one who shows it takes it away. */
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
    // What opened it may be gone.
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
