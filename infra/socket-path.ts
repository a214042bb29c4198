/** The systems limit the bytes of a socket's path, macOS to 103; Node.js cuts a longer path without an error. */
export const MAX_SOCKET_PATH = 100;

export const fitsSocket = (path: string): boolean => Buffer.byteLength(path) <= MAX_SOCKET_PATH;
