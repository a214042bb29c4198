/** Returns a handler that takes the form's submission instead of the browser. */
export function handleSubmit(send: (form: HTMLFormElement) => void) {
  return (event: Pick<Event, 'preventDefault'> & { readonly currentTarget: HTMLFormElement }): void => {
    event.preventDefault();
    send(event.currentTarget);
  };
}
