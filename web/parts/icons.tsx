/** Icons of buttons, drawn as SVG because not every font has them. */
interface IconProps {
  readonly path: string;
}

export function Icon({ path }: IconProps) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

export const DOTS = 'M2 7h2v2H2zM7 7h2v2H7zM12 7h2v2h-2z';
export const PAUSE = 'M4 3h3v10H4zM9 3h3v10H9z';
export const PLAY = 'M5 3l8 5-8 5z';
