/** Paths of the push stream. */
export const SOCKET_PATH = '/api/ws';
export const STREAM_PATH = '/api/stream';
export const STREAM_PATHS: readonly string[] = [SOCKET_PATH, STREAM_PATH];
