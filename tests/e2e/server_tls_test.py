"""`quire serve` with a certificate: what clients get inside TLS, and what is said about bad files."""

import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import unittest

from server_case import DATA, QUIRE, TINY, Server, wait_until

FILES = os.path.join(DATA, "server")
CERTIFICATE, KEY = os.path.join(FILES, "localhost.crt"), os.path.join(FILES, "localhost.key")
HELLO = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 12, "temperature": 0, "ignore_eos": True}


class TlsServer(Server):
    trusted = CERTIFICATE

    def connect(self):
        context = ssl.create_default_context(cafile=self.trusted)
        return http.client.HTTPSConnection("localhost", self.port, timeout=30, context=context)


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TlsServer("--tls-cert", CERTIFICATE, "--tls-key", KEY)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_a_stream_says_what_a_plain_server_says(self):
        with Server() as plain:
            expected = plain.post("/v1/chat/completions", HELLO)[1]["choices"][0]["message"]["content"]
        events = self.server.events("/v1/chat/completions", HELLO)
        self.assertEqual("".join(e["choices"][0]["delta"].get("content") or "" for e in events[:-1]), expected)

    def test_a_connection_is_kept_and_its_end_is_said(self):
        connection = self.server.connect()
        for _ in range(5):
            connection.request("POST", "/v1/chat/completions", json.dumps(HELLO), {"Content-Type": "application/json"})
            self.assertEqual(connection.getresponse().read()[:1], b"{")
        connection.request("GET", "/health", headers={"Connection": "close"})
        self.assertEqual(json.loads(connection.getresponse().read()), {"status": "ok"})
        # Python reports a TLS stream that ends without close_notify as an error here.
        with self.tls_socket() as client:
            client.sendall(b"GET /health HTTP/1.0\r\n\r\n")
            answer = b""
            while part := client.recv(4096):
                answer += part
        self.assertIn(b'{"status":"ok"}', answer)

    def test_large_bodies_go_both_ways(self):
        text = "word " * 200_000
        status, body = self.server.post("/tokenize", {"content": text})
        self.assertEqual(status, 200)
        self.assertEqual(self.server.post("/detokenize", {"tokens": body["tokens"]})[1]["content"].strip(), text.strip())

    def test_a_client_that_leaves_is_noticed(self):
        client = self.tls_socket()
        body = json.dumps({**HELLO, "max_tokens": 400, "stream": True}).encode()
        client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                       b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        client.recv(10)
        client.close()
        self.assertTrue(wait_until(lambda: self.server.metric("quire_sequences_running") == 0))

    def test_a_client_without_tls_disturbs_nobody(self):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=30) as client:
            client.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            try:
                self.assertNotIn(b"HTTP/1.1", client.recv(4096))
            except ConnectionResetError:
                pass
        self.assertEqual(self.server.get("/health")[0], 200)

    def tls_socket(self):
        context = ssl.create_default_context(cafile=CERTIFICATE)
        client = socket.create_connection(("127.0.0.1", self.server.port), timeout=30)
        return context.wrap_socket(client, server_hostname="localhost", suppress_ragged_eofs=False)


class Renewal(unittest.TestCase):
    def test_sighup_takes_the_renewed_certificate(self):
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = os.path.join(folder, "crt"), os.path.join(folder, "key")
            shutil.copy(CERTIFICATE, certificate)
            shutil.copy(KEY, key)
            with TlsServer("--tls-cert", certificate, "--tls-key", key) as server:
                self.assertEqual(server.get("/health")[0], 200)
                shutil.copy(os.path.join(FILES, "renewed.crt"), certificate)  # and its key is still the old one
                server.process.send_signal(signal.SIGHUP)
                self.assertTrue(wait_until(lambda: "does not belong" in server.errors()))
                self.assertEqual(server.get("/health")[0], 200)
                shutil.copy(os.path.join(FILES, "renewed.key"), key)
                server.process.send_signal(signal.SIGHUP)
                server.trusted = os.path.join(FILES, "renewed.crt")
                self.assertTrue(wait_until(lambda: self.trusts(server)))

    def trusts(self, server):
        try:
            return server.get("/health")[0] == 200
        except ssl.SSLError:
            return False


class Refusals(unittest.TestCase):
    """One line that says which file and what is wrong, and exit code 1; 2 where the options are wrong."""

    def refused(self, *options, code=1):
        done = subprocess.run([QUIRE, "serve", "-m", TINY, "--port", "0", *options], capture_output=True, text=True,
                              timeout=60, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        if code == 1:
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done.stderr

    def refused_tls(self, certificate, key, *words):
        message = self.refused("--tls-cert", certificate, "--tls-key", key)
        for word in words:
            self.assertIn(word, message)

    def test_certificates(self):
        self.refused_tls("/no/such.crt", KEY, "/no/such.crt", "no such file")
        self.refused_tls(KEY, KEY, KEY, "no certificate")
        self.refused_tls(TINY, KEY, TINY, "no certificate")
        self.refused_tls(FILES, KEY, FILES, "directory")

    def test_keys(self):
        self.refused_tls(CERTIFICATE, "/no/such.key", "/no/such.key", "no such file")
        self.refused_tls(CERTIFICATE, CERTIFICATE, "no private key")
        self.refused_tls(CERTIFICATE, os.path.join(FILES, "renewed.key"), "renewed.key", "does not belong", "localhost.crt")
        self.refused_tls(CERTIFICATE, os.path.join(FILES, "passphrase.key"), "passphrase")

    def test_one_without_the_other_is_wrong_usage(self):
        self.assertIn("--tls-key", self.refused("--tls-cert", CERTIFICATE, code=2))
        self.assertIn("--tls-cert", self.refused("--tls-key", KEY, code=2))


if __name__ == "__main__":
    unittest.main(argv=[__file__], verbosity=1)
