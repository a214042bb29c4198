/** Where the push stream is connected to. */
export const SOCKET_PATH = '/api/ws';
export const STREAM_PATH = '/api/stream';
export const STREAM_PATHS: readonly string[] = [SOCKET_PATH, STREAM_PATH];
