/** Renders its children only when the reader scrolls near them, so that the first paint costs only what is visible. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface WhenSeenProps {
  /** Title of the part. */
  readonly title: string;
  /** Height reserved until then. */
  readonly frame: 'short' | 'medium' | 'tall';
  readonly children: () => ComponentChildren;
}

export function WhenSeen({ title, frame, children }: WhenSeenProps) {
  const holder = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const { current } = holder;
    if (!current) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  if (isSeen) return <>{children()}</>;
  return (
    <div ref={holder} class={`panel frame ${frame}`} data-waits="to be seen">
      <header>
        <h2>{title}</h2>
      </header>
      <p class="empty">Loaded when you scroll to it.</p>
    </div>
  );
}
