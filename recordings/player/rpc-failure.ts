/** An error as the daemon answers it. */
export class RpcFailure extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'RpcFailure';
    this.code = code;
  }
}

/** The daemon answers with the method's whole help text. */
export class WrongParameterCount extends Error {}

/** The daemon died of this call while it was recorded: the connection closes without an answer. */
export class DaemonDied extends Error {}
