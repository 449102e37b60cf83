"""A client to be stopped by SIGSTOP: prints `ready`, and `closed CODE` when the server has closed its connection.

    python stopped_reader.py URL socketio      joins `/custom` and reads
    python stopped_reader.py URL echo          sends 8 MiB to an echo server and reads no echoes
"""
import struct
import sys

import websocket

url, kind = sys.argv[1:]
connection = websocket.create_connection(url, timeout=60)
closed = (websocket.WebSocketConnectionClosedException, ConnectionError)
try:
    if kind == "socketio":
        assert connection.recv().startswith("0{")
        connection.send("40/custom,")
        assert connection.recv().startswith("40/custom,{")
        print("ready", flush=True)
    else:
        connection.settimeout(2)
        try:
            for _ in range(128):
                connection.send_binary(b"\x2a" * 65_536)
        except (websocket.WebSocketTimeoutException, TimeoutError, *closed):
            pass  # the server stops reading from a client that does not read
        print("ready", flush=True)
        connection.settimeout(60)
    while True:
        opcode, data = connection.recv_data(control_frame=True)
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            print("closed", struct.unpack("!H", data[:2])[0] if len(data) >= 2 else 1005, flush=True)
            break
        if data == b"2":
            connection.send("3")
except closed:
    print("closed cut", flush=True)
