/** The buttons at the end of a form in a dialog: the action and Cancel. */

export function DialogButtons({ action, close }: { readonly action: string; readonly close: () => void }) {
  return (
    <p class="actions">
      <button type="submit" class="main-action">
        {action}
      </button>
      <button type="button" onClick={close}>
        Cancel
      </button>
    </p>
  );
}
