/** Texts that a chain may contain, and that the page must treat as nothing but text. */

export const HOSTILE_TEXTS = {
  markup: '<img src=x onerror="window.harmed = true">',
  script: '</script><script>window.harmed = true</script>',
  address: 'javascript:window.harmed=true',
  direction: 'pay \u202Ealice\u202C now',
  unseen: 'al\u200Bi\u200Dce\u2060\uFEFF',
  tower: `Z${'\u0335\u0301'.repeat(16)}`,
  controls: 'one\u0000two\u001B[31m',
  emoji: '👨‍👩‍👧‍👦🏴‍☠️',
  mixed: 'аlice',
  template: '{{constructor.constructor("window.harmed = true")()}}',
} as const;

/** Longer than any view shows at once. */
export const LARGE_TEXT = '0123456789abcde '.repeat((900 * 1024) / 16);
