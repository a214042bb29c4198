/** Apart from the command, so that the list of commands does not load it. */
export const DEAD_LETTERS_USAGE = [
  'dead-letters list [chain]',
  'dead-letters show <chain> <height> [ordinal]   cause and payload of each of a block',
  'dead-letters redrive <chain> [height]          derive again from the oldest one, or from a block, to the end of the log;',
  '                                               exit code 0 when no dead letter is left from there on',
].join('\n');
