/** Shows a text as a QR code; the library is loaded when the code is shown. */
import { useEffect, useState } from 'preact/hooks';

interface Squares {
  readonly size: number;
  /** The `d` of an SVG path. */
  readonly path: string;
}

interface QrProps {
  readonly text: string;
  /** Describes the content for screen readers. */
  readonly label: string;
  readonly isLarge?: boolean;
}

export function Qr({ text, label, isLarge = false }: QrProps) {
  const [squares, setSquares] = useState<Squares | null>(null);
  useEffect(() => {
    let isHere = true;
    void import('lean-qr').then(({ generate }) => {
      const code = generate(text);
      const dots: string[] = [];
      for (let y = 0; y < code.size; y++) {
        for (let x = 0; x < code.size; x++) if (code.get(x, y)) dots.push(`M${x} ${y}h1v1h-1z`);
      }
      if (isHere) setSquares({ size: code.size, path: dots.join('') });
    });
    return () => {
      isHere = false;
    };
  }, [text]);
  return (
    <div class={isLarge ? 'qr large' : 'qr'}>
      {squares && (
        <svg
          viewBox={`-3 -3 ${squares.size + 6} ${squares.size + 6}`}
          role="img"
          aria-label={label}
          shape-rendering="crispEdges"
        >
          <path d={squares.path} />
        </svg>
      )}
    </div>
  );
}
