/**
 * An error of the client. Its `code` is one of:
 * `transport`, `timeout`, `parse`, `refused`, `disconnected`, `not_connected`, `ack_timeout`,
 * `connect_error`.
 */
export class SocketError extends Error {
  constructor(code, message, data) {
    super(message);
    this.name = "SocketError";
    this.code = code;
    this.data = data;
  }
}
