"""moto as an S3-compatible store, behind a proxy that verifies the signatures with botocore and simulates faults."""
import contextlib
import hashlib
import http.client
import logging
import re
import socketserver
import ssl
import threading
from http.server import BaseHTTPRequestHandler

import boto3
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.server import ThreadedMotoServer

BUCKET, REGION = "apus-files", "eu-west-1"
ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "AKIDTEST", "AWS_SECRET_ACCESS_KEY": "secret/with+signs"}
# A line for each request would hide the output of a failed test.
logging.getLogger("werkzeug").setLevel(logging.ERROR)
FIELDS = re.compile(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, SignedHeaders=([^,]+), Signature=(\w{64})")


def problem(method: str, url: str, headers, body: bytes) -> str | None:
    """Returns why the signature of a request is wrong according to botocore; None if it is right."""
    match = FIELDS.fullmatch(headers.get("Authorization", ""))
    if not match:
        return "the field Authorization is malformed"
    names = match.group(4).split(";")
    if not {"host", "x-amz-content-sha256", "x-amz-date"} <= set(names):
        return f"only {names} are signed"
    if headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
        return "the hash of the body is wrong"
    request = AWSRequest(method=method, url=url, headers={name: headers[name] for name in names})
    request.context["timestamp"] = headers["x-amz-date"]
    signer = S3SigV4Auth(Credentials(ENVIRONMENT["AWS_ACCESS_KEY_ID"], ENVIRONMENT["AWS_SECRET_ACCESS_KEY"]), "s3", REGION)
    text = signer.string_to_sign(request, signer.canonical_request(request))
    return None if signer.signature(text, request) == match.group(5) else "the signature is wrong"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_one_request(self):
        with contextlib.suppress(ConnectionError):
            super().handle_one_request()

    def forward(self):
        store = self.server.store
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        kind = self.kind()
        with store.lock:
            store.requests.append(kind)
            count = store.requests.count(kind)
        if store.is_down:
            self.close_connection = True
            return
        wrong = problem(self.command, f"http://{self.headers['Host']}{self.path}", self.headers, body)
        if wrong:
            store.problems.append(f"{kind}: {wrong}")
            return self.answer(403, {}, b"<Error><Code>SignatureDoesNotMatch</Code></Error>")
        if store.held and store.held == (kind, count):
            store.reached.set()
            store.released.wait(120)
        connection = http.client.HTTPConnection("127.0.0.1", store.moto_port, timeout=60)
        with contextlib.closing(connection):
            connection.request(self.command, self.path, body, {k: v for k, v in self.headers.items() if k.lower() != "connection"})
            response = connection.getresponse()
            self.answer(response.status, dict(response.getheaders()), response.read())

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = forward

    def kind(self) -> str:
        query = self.path.partition("?")[2]
        names = sorted(part.partition("=")[0] for part in query.split("&") if part)
        return " ".join([self.command, *names])

    def answer(self, status: int, headers: dict, body: bytes):
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                self.send_header(name, value)
        length = next((value for name, value in headers.items() if name.lower() == "content-length"), len(body))
        self.send_header("Content-Length", str(length if self.command == "HEAD" else len(body)))
        self.end_headers()
        if self.command != "HEAD":
            # The body is sent in pieces with pauses, as a network delivers it.
            for start in range(0, len(body), 1 << 20):
                self.wfile.write(body[start:start + (1 << 20)])

    def log_message(self, *_):
        pass


class Proxy(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    request_queue_size = 256


class EncryptedProxy(Proxy):
    def finish_request(self, request, client_address):
        # The handshake runs in the thread of the connection. A client that does not trust the certificate ends it.
        with contextlib.suppress(OSError), self.context.wrap_socket(request, server_side=True) as encrypted:
            super().finish_request(encrypted, client_address)


class ObjectStore:
    def __init__(self):
        self.moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.moto.start()
        self.moto_port = self.moto.get_host_and_port()[1]
        self.client = boto3.client(
            "s3", endpoint_url=f"http://127.0.0.1:{self.moto_port}", region_name=REGION, aws_access_key_id="x", aws_secret_access_key="x")
        self.client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        self.lock, self.requests, self.problems = threading.Lock(), [], []
        self.is_down = False
        # The kind and the number of the request that waits for `released`.
        self.held: tuple[str, int] | None = None
        self.reached, self.released = threading.Event(), threading.Event()
        self.proxy = Proxy(("127.0.0.1", 0), Handler)
        self.proxy.store = self
        threading.Thread(target=self.proxy.serve_forever, daemon=True).start()

    def options(self, prefix: str, url: str | None = None) -> list[str]:
        """Returns the options of `apus serve` for this store."""
        url = url or f"http://127.0.0.1:{self.proxy.server_address[1]}"
        return ["--blob-store", f"s3://{BUCKET}/{prefix}", "--s3-endpoint", url, "--s3-region", REGION]

    @contextlib.contextmanager
    def encrypted(self, certificate):
        """Yields the URL of the store over TLS with a certificate of `support.peers`."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.certificate, certificate.key)
        proxy = EncryptedProxy(("127.0.0.1", 0), Handler)
        proxy.store, proxy.context = self, context
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        try:
            yield f"https://localhost:{proxy.server_address[1]}"
        finally:
            proxy.shutdown()
            proxy.server_close()

    def keys(self, prefix: str) -> list[str]:
        return [item["Key"] for item in self.client.list_objects_v2(Bucket=BUCKET, Prefix=prefix + "/").get("Contents", [])]

    def content(self, prefix: str, blob: str) -> bytes:
        return self.client.get_object(Bucket=BUCKET, Key=f"{prefix}/{blob[:2]}/{blob}")["Body"].read()

    def unfinished(self) -> list[str]:
        return [item["UploadId"] for item in self.client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", [])]

    def close(self):
        self.released.set()
        self.proxy.shutdown()
        self.proxy.server_close()
        self.moto.stop()
