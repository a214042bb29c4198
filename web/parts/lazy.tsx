/** Below the fold nothing is asked until it is near the window. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export function Lazy({ children }: { readonly children: () => ComponentChildren }) {
  const place = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const { current } = place;
    if (!current) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true);
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return isNear ? children() : <div ref={place} class="frame short" />;
}
