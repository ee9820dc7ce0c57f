"""Servers on loopback that answer with bytes of a test's choice."""

import contextlib
import json
import socket
import threading

ME = {"data": {"partnerId": "prt_1", "slug": "acme-pms", "name": "Acme PMS"}}


def answer(body, status=200, *fields):
    """A whole answer."""
    content = json.dumps(body).encode()
    head = [f"HTTP/1.1 {status} Any", f"Content-Length: {len(content)}", *fields, "", ""]
    return "\r\n".join(head).encode() + content


class Connection:
    def __init__(self, sock):
        self.sock, self.file = sock, sock.makefile("rb")

    def read(self):
        """The head and the body of the next request; an empty head where none comes."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = self.file.readline()
            if not line:
                return "", b""
            head += line
        length = [line for line in head.decode().lower().split("\r\n") if line.startswith("content-length:")]
        return head.decode(), self.file.read(int(length[0].split(":")[1])) if length else b""

    def write(self, content):
        self.sock.sendall(content)

    def serve(self, content=None):
        """Answers all requests of the connection alike, and gives their heads."""
        heads = []
        while (head := self.read()[0]):
            heads.append(head)
            self.write(answer(ME) if content is None else content)
        return heads


@contextlib.contextmanager
def serving(*handlers, tls=None):
    """Handles the first connection with the first handler, and those beyond the last with the last.

    Gives the base URL, and a list with the results of the handlers whose connections have ended.
    """
    results, threads = [], []

    def handle(number, sock):
        with sock, contextlib.suppress(OSError):
            sock.settimeout(20)  # a test that goes wrong ends
            connection = Connection(tls.wrap_socket(sock, server_side=True) if tls else sock)
            with connection.sock, connection.file:
                results.append(handlers[min(number, len(handlers) - 1)](connection))

    def accept():
        with contextlib.suppress(OSError):
            while True:
                sock, _ = listener.accept()
                threads.append(threading.Thread(target=handle, args=(len(threads), sock)))
                threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        acceptor = threading.Thread(target=accept)
        acceptor.start()
        try:
            yield f"{'https' if tls else 'http'}://127.0.0.1:{listener.getsockname()[1]}", results
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for thread in [acceptor, *threads]:
                thread.join()
