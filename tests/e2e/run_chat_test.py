"""An interactive `quire run` on a pseudo terminal: a short chat with editing, commands and Ctrl-C."""

import json
import os
import pty
import re
import select
import shutil
import signal
import sys
import tempfile
import termios
import time
import unittest

QUIRE, DATA = sys.argv[1], sys.argv[2]
TINY = os.path.join(DATA, "models", "llama", "model-f32.gguf")


class Chat:
    """The program on a terminal of its own."""

    def __init__(self, home, *args, term="xterm", **env):
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        self.text = ""
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            for fd in (0, 1, 2):
                os.dup2(self.slave, fd)
            import fcntl
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            variables = dict(os.environ, QUIRE_HOME=home, TERM=term, NO_COLOR="1", **env)
            os.execve(QUIRE, [QUIRE, "run", "-m", TINY, "--threads", "1", *args], variables)

    def send(self, text):
        os.write(self.master, text.encode())

    def expect(self, pattern, timeout=60):
        """Everything up to the end of the first match in what has not been looked at yet."""
        deadline = time.monotonic() + timeout
        while True:
            match = re.search(pattern, self.text, re.DOTALL)
            if match:
                seen, self.text = self.text[:match.end()], self.text[match.end():]
                return seen
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.master], [], [], left)[0]:
                raise AssertionError(f"no {pattern!r} in {self.text[-1000:]!r}")
            self.text += os.read(self.master, 65536).decode(errors="replace")

    def wait_until_it_cannot_write(self, timeout=240):
        """Reads nothing until the program, which has something to write, sleeps."""
        deadline = time.monotonic() + timeout
        asleep = 0
        while asleep < 20:
            with open(f"/proc/{self.pid}/stat") as file:
                state = file.read().rsplit(")", 1)[1].split()[0]
            asleep = asleep + 1 if state == "S" else 0
            if time.monotonic() > deadline:
                raise AssertionError("the program never stopped writing")
            time.sleep(0.01)

    def wait(self, timeout=60):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if select.select([self.master], [], [], 0)[0]:
                self.text += os.read(self.master, 65536).decode(errors="replace")
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return status
            time.sleep(0.01)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise AssertionError("the program did not end")

    def terminal_is_restored(self):
        return termios.tcgetattr(self.slave) == self.before

    def close(self):
        os.close(self.master)
        os.close(self.slave)


class Case(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="quire-chat-")
        self.addCleanup(shutil.rmtree, self.home)

    def start(self, *args, **env):
        chat = Chat(self.home, *args, **env)
        self.addCleanup(chat.close)
        return chat


class Session(Case):
    def test_a_short_chat(self):
        chat = self.start("--ctx", "20000", "--ignore-eos", "-n", "8", "--seed", "7")
        chat.expect(r"context of 20000 tokens")
        chat.expect(r"> ")
        chat.send("Hello\r")
        chat.expect(r"answer 8 tokens")
        # Edited in the middle: the command is read as it stands at the end.
        chat.send("/sxt temp 0.5\x01\x1b[C\x1b[C\x1b[3~e\r")
        chat.expect(r"temp 0.5,")
        # A second turn reads only what is new.
        chat.send("And you?\r")
        chat.expect(r"\(\d+ reused\)")

        # Ctrl-C ends the answer, not the chat, and what there was stays.
        chat.send("/set n -1\r")
        chat.expect(r"n -1")
        chat.send("Tell me everything\r")
        chat.expect(r"Tell me everything.*?2004l.{50}")  # the end of editing, and some text
        chat.send("\x03")
        chat.expect(r"stopped; what there is stays")
        chat.expect(r"answer \d+ tokens")
        chat.expect(r"> ")
        chat.send("\x03")
        chat.expect(r"Ctrl-D or /exit leaves")
        chat.send("half a message\x03/stats\r")
        chat.expect(r"6 messages, \d+ of 20000 tokens")

        # A pasted block is one message of several lines.
        chat.send("/set n 4\r")
        chat.expect(r"n 4")
        chat.send("\x1b[200~first\rsecond\x1b[201~\r")
        chat.expect(r"answer 4 tokens")

        path = os.path.join(self.home, "chat.json")
        chat.send(f"/save {path}\r")
        chat.expect(r"saved to")
        with open(path) as file:
            messages = json.load(file)["messages"]
        self.assertEqual([m["role"] for m in messages], ["user", "assistant"] * 4)
        self.assertEqual(messages[0]["content"], "Hello")
        self.assertEqual(messages[4]["content"], "Tell me everything")
        self.assertTrue(messages[5]["content"])
        self.assertEqual(messages[6]["content"], "first\nsecond")

        chat.send("/undo\r")
        chat.expect(r"6 messages left")
        chat.send("/clear\r")
        chat.expect(r"begins anew")
        chat.send(f"/load {path}\r")
        chat.expect(r"8 messages loaded")
        chat.send("/nonsense\r")
        chat.expect(r"no command /nonsense")
        chat.send("/exit\r")
        chat.expect(r"4 answers")
        self.assertEqual(chat.wait(), 0)
        self.assertTrue(chat.terminal_is_restored())
        with open(os.path.join(self.home, "history")) as file:
            self.assertIn("first\\nsecond\n", file.read())

    def test_ctrl_c_while_the_terminal_takes_nothing(self):
        chat = self.start("--ctx", "30000", "--ignore-eos", "-n", "-1")
        chat.expect(r"> ")
        chat.send("Tell me everything\r")
        chat.expect(r"Tell me everything.*?2004l.{50}")
        chat.wait_until_it_cannot_write()
        chat.send("\x03")
        chat.expect(r"stopped; what there is stays")
        chat.send("/clear\r")
        chat.expect(r"begins anew")
        chat.send("/set n 4\r")
        chat.expect(r"n 4")
        chat.send("Once more\r")
        chat.expect(r"answer 4 tokens", timeout=10)
        chat.send("/exit\r")
        self.assertEqual(chat.wait(), 0)

    def test_the_same_seed_gives_the_same_answer_again(self):
        answers = []
        for _ in range(2):
            chat = self.start("--ctx", "500", "--ignore-eos", "-n", "12", "--seed", "3")
            chat.expect(r"> ")
            for message in ("One", "Two"):
                chat.send(message + "\r")
                answers.append(chat.expect(r"answer 12 tokens").split("\n", 1)[1].split("prompt ")[0])
                chat.expect(r"> ")
            # Another choice is another text.
            chat.send("/regen\r")
            again = chat.expect(r"answer 12 tokens").split("\n", 1)[1].split("prompt ")[0]
            self.assertNotEqual(again, answers[-1])
            chat.send("\x04")
            self.assertEqual(chat.wait(), 0)
        self.assertEqual(answers[:2], answers[2:])

    def test_a_conversation_longer_than_the_context(self):
        chat = self.start("--ctx", "128", "-n", "4", "--ignore-eos")
        chat.expect(r"> ")
        chat.send("word " * 100 + "\r")
        chat.expect(r"prompt is \d+ tokens, the context holds 128")
        chat.expect(r"/clear")
        chat.send("Hi\r")
        chat.expect(r"answer 4 tokens")
        chat.send("\x04")
        self.assertEqual(chat.wait(), 0)

    def test_history_of_the_last_run(self):
        with open(os.path.join(self.home, "history"), "w") as file:
            file.write("/set temp 0.25\n")
        chat = self.start("--ctx", "128")
        chat.expect(r"> ")
        chat.send("\x1b[A\r")
        chat.expect(r"temp 0.25,")
        chat.send("/exit\r")
        self.assertEqual(chat.wait(), 0)

    def test_ended_from_outside(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            chat = self.start("--ctx", "128")
            chat.expect(r"> ")
            self.assertFalse(chat.terminal_is_restored())
            os.kill(chat.pid, number)
            self.assertEqual(os.WTERMSIG(chat.wait()), number)
            self.assertTrue(chat.terminal_is_restored())

    def test_a_terminal_that_cannot_be_edited_on(self):
        chat = self.start("--ctx", "500", "-n", "4", "--ignore-eos", term="dumb")
        chat.expect(r"/help lists")
        chat.send("first\\\nsecond\n")
        self.assertNotIn("\x1b[", chat.expect(r"answer 4 tokens").replace("\x1b[K", ""))
        chat.send("\x03")
        chat.expect(r"Ctrl-D or /exit leaves")
        chat.send("\x04")
        self.assertEqual(chat.wait(), 0)

    def test_usage(self):
        chat = self.start("--json")
        chat.expect(r"--json and --raw need a prompt")
        self.assertEqual(os.waitstatus_to_exitcode(chat.wait()), 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
