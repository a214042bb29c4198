/** A link to a file that needs a login: the session requests the file and the browser saves it. */
import { useState } from 'preact/hooks';
import { saveAnswer } from '../state/save-answer.ts';
import type { Trouble } from '../state/trouble.ts';
import { Alert } from './alert.tsx';

interface SaveLinkProps {
  readonly words: string;
  readonly url: string;
  /** Name of the file. */
  readonly name: string;
}

export function SaveLink({ words, url, name }: SaveLinkProps) {
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const save = async (event: Event) => {
    event.preventDefault();
    setTrouble((await saveAnswer(url, name)).trouble);
  };
  return (
    <>
      <a href={url} onClick={save}>
        {words}
      </a>
      {trouble && <Alert trouble={trouble} title="It could not be saved" />}
    </>
  );
}
