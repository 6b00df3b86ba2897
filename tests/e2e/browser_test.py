"""The page at "/" in a real Chromium. Skipped where chromium and chromedriver are not installed
(scripts/install-deps.sh --browser). With QUIRE_SCREENSHOTS=FOLDER the screenshots are kept there."""

import os
import unittest

import browser
from browser import ALT, ENTER, ESCAPE, SHIFT, TAB, Browser
from server_case import Server

LONG = "A long beginning that several have in common. " * 30
# Every piece of an answer takes a fifth of a second.
SLOW_NETWORK = """(() => {
  const real = window.fetch;
  window.fetch = async (...request) => {
    const response = await real(...request);
    const slow = new TransformStream({async transform(piece, out) {
      out.enqueue(piece);
      await new Promise((done) => setTimeout(done, 200));
    }});
    return new Response(response.body.pipeThrough(slow), response);
  };
})()"""


def text_of(selector):
    return "[...document.querySelectorAll('%s')].map(n => n.textContent)" % selector


@unittest.skipIf(browser.CHROMIUM is None or browser.DRIVER is None,
                 "chromium and chromedriver are not installed: scripts/install-deps.sh --browser")
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--parallel", "4", "--ctx", "8192")
        cls.addClassCleanup(cls.server.__exit__)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.__exit__)

    def setUp(self):
        self.browser.resize(1280, 900)
        self.browser.prefer("light")
        self.browser.open(self.url())
        self.browser.run("localStorage.clear()")
        self.set_settings({"max-tokens": "12", "seed": "1"})

    def tearDown(self):
        self.assertEqual(self.browser.console(), [])  # no error, and nothing the content policy refused

    def url(self):
        return "http://127.0.0.1:%d/" % self.server.port

    def set_settings(self, settings):
        self.browser.run("localStorage.setItem('quire.settings', JSON.stringify(arguments[0]))", settings)
        self.browser.open(self.url())
        self.browser.wait("document.getElementById('model').textContent.length > 0")

    def say(self, text, answers):
        """Types a message and waits until so many answers are there."""
        self.browser.keys(text, ENTER)
        self.browser.wait("document.querySelectorAll('.message.assistant').length === %d && "
                          "document.getElementById('stop').hidden && !document.querySelector('.waiting')" % answers)

    def shoot(self, name):
        png = self.browser.screenshot()
        if folder := os.environ.get("QUIRE_SCREENSHOTS"):
            with open(os.path.join(folder, name + ".png"), "wb") as file:
                file.write(png)
        return png

    def test_a_screenshot_is_not_blank(self):
        self.say("Hello", 1)
        shares = browser.shares(self.shoot("chat"))
        self.assertGreater(len(shares), 20)  # letters have soft edges
        self.assertLess(max(shares.values()), 0.95)

    def test_everything_is_reached_by_keyboard(self):
        b = self.browser
        focus = "document.activeElement.id || document.activeElement.textContent"
        self.assertEqual(b.run(focus), "text")
        b.keys("one")
        b.keys(ENTER, hold=SHIFT)
        self.say("two", 1)
        self.assertEqual(b.run(text_of(".message.user")), ["one\ntwo"])
        self.assertEqual(b.run(focus), "text")
        b.keys(TAB)
        self.assertEqual(b.run(focus), "again")
        b.keys(ENTER)
        b.wait("document.getElementById('stop').hidden && !document.querySelector('.waiting')")
        self.assertEqual(b.run("document.querySelectorAll('.message').length"), 2)
        b.keys("n", hold=ALT)
        self.assertEqual(b.run("document.querySelectorAll('.message').length"), 0)
        b.keys("2", hold=ALT)
        self.assertFalse(b.run("document.getElementById('live').hidden"))
        b.keys("1", hold=ALT)
        seen = set()
        for _ in range(14):
            b.keys(TAB)
            seen.add(b.run(focus))
        self.assertLessEqual({"Chat", "Engine", "open-settings", "new-chat", "messages", "text", "send"}, seen)

    def test_an_answer_can_be_stopped_and_asked_for_again(self):
        b = self.browser
        self.set_settings({"max-tokens": "8000", "temperature": "0"})
        b.run(SLOW_NETWORK)
        b.keys("Hello", ENTER)
        b.wait("document.querySelector('.message.assistant')?.textContent.length > 20")
        b.keys(ESCAPE)
        b.wait("document.getElementById('note').textContent === 'stopped'")
        self.assertTrue(b.run("document.getElementById('stop').hidden"))
        stopped = b.run(text_of(".message.assistant"))[0]
        self.set_settings({"max-tokens": "12", "seed": "1"})
        self.assertEqual(b.run(text_of(".message.assistant"))[0], stopped)  # it was kept
        b.run("document.getElementById('again').click()")
        b.wait("document.getElementById('note').textContent.startsWith('12 tokens')")
        again = b.run(text_of(".message.assistant"))
        self.assertEqual(len(again), 1)
        self.assertNotEqual(again[0], stopped)

    def test_conversations_are_kept_and_deleted(self):
        b = self.browser
        self.say("The first", 1)
        b.keys("n", hold=ALT)
        self.say("The second", 1)
        b.open(self.url())
        b.wait("document.querySelectorAll('#conversations li').length === 2")
        self.assertEqual([t[:-1] for t in b.run(text_of("#conversations li"))], ["The second", "The first"])
        b.run("document.querySelectorAll('#conversations li')[1].firstChild.click()")
        self.assertEqual(b.run(text_of(".message.user")), ["The first"])
        b.run("document.querySelector('[aria-label=\"Delete The first\"]').click()")
        self.assertEqual(b.run("document.querySelectorAll('#conversations li').length"), 1)
        self.assertEqual(b.run("JSON.parse(localStorage.getItem('quire.conversations')).length"), 1)

    def test_settings_reach_the_request(self):
        b = self.browser
        b.run("document.getElementById('open-settings').click()")
        self.assertTrue(b.run("document.getElementById('settings').open"))
        b.run("document.getElementById('max-tokens').value = '5'")
        b.run("document.getElementById('theme').value = 'dark'")
        b.keys(ESCAPE)
        b.wait("document.documentElement.dataset.theme === 'dark'")  # set once the dialogue has closed
        self.assertFalse(b.run("document.getElementById('settings').open"))
        b.run("document.getElementById('text').focus()")
        self.say("Hello", 1)
        self.assertTrue(b.run("document.getElementById('note').textContent").startswith("5 tokens"))

    def test_markdown_becomes_elements_and_markup_stays_text(self):
        b = self.browser
        source = ("# Head\n\nSome **bold**, *soft*, `code` and [a link](https://example.org/x).\n\n- one\n  - inner\n- two\n\n"
                  "| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n```py\nif x < 1: pass\n```\n\n---\n\n"
                  "<img src=x onerror=alert(1)> [bad](javascript:alert(1))")
        b.run("localStorage.setItem('quire.conversations', JSON.stringify([{id: '1', title: 't', messages: ["
              "{role: 'user', content: 'u'}, {role: 'assistant', content: arguments[0], reasoning: ''}]}]))", source)
        b.open(self.url())
        b.wait("document.querySelector('.message.assistant')")
        count = lambda selector: b.run("document.querySelectorAll('.message.assistant %s').length" % selector)
        for selector in ("h3", "strong", "em", "p code", "ul ul li", "td", "blockquote p", "pre code", "hr"):
            self.assertGreater(count(selector), 0, selector)
        self.assertEqual(b.run(text_of(".message.assistant a")), ["a link"])
        self.assertEqual(count("img"), 0)
        self.assertEqual(b.run(text_of(".message.assistant pre"))[0], "if x < 1: pass")
        self.shoot("markdown")

    def test_the_engine_is_shown_while_it_works(self):
        b = self.browser
        body = {"messages": [{"role": "system", "content": LONG}, {"role": "user", "content": "x"}], "stream": True,
                "max_tokens": 1400, "ignore_eos": True}
        with self.server.raw_post("/v1/chat/completions", body) as one, self.server.raw_post("/v1/chat/completions", body) as two:
            one.recv(10), two.recv(10)
            b.keys("2", hold=ALT)
            pool = b.wait("/([1-9]\\d*) held, ([1-9]\\d*) of them shared/.exec(document.getElementById('pages').textContent)")
            self.assertGreater(int(pool[1]), int(pool[2]))
            legend = b.run("document.getElementById('owners').textContent")
            self.assertRegex(legend, r"#\d+: \d+ tokens.*#\d+: \d+ tokens")
            # Shared pages have their own colour on the grid.
            gold = "getComputedStyle(document.documentElement).getPropertyValue('--shared').trim()"
            color = bytes.fromhex(b.run(gold)[1:])
            shares = browser.shares(self.shoot("engine"))
            self.assertGreater(shares.get(color, 0), 0.0005)
            memory = b.run(text_of("#memory .bar span:first-child"))
            self.assertLessEqual({"weights", "keys, values", "activations", "logits", "tables", "scratch"}, set(memory))
        b.wait("[...document.querySelectorAll('#numbers div')].some(n => n.textContent === '0running')")

    def test_a_narrow_screen_shows_all_without_scrolling_sideways(self):
        b = self.browser
        b.resize(360, 740)
        self.say("Hello " + "long" * 40, 1)
        for view in "12":
            b.keys(view, hold=ALT)
            self.assertLessEqual(b.run("document.documentElement.scrollWidth"), 360)
            outside = b.run("[...document.querySelectorAll('header *, main:not([hidden]) > *')].filter(n => n.getClientRects().length "
                            "&& (n.getBoundingClientRect().right > 361 || n.getBoundingClientRect().left < -1)).map(n => n.outerHTML)")
            self.assertEqual(outside, [])
            self.shoot("narrow-" + view)

    def test_colours_follow_the_system(self):
        back = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
        self.assertGreater(min(self.browser.run(back)), 200)
        self.browser.prefer("dark")
        self.browser.wait(back + "[0] < 60")
        self.shoot("dark")

    def test_nothing_is_asked_of_others(self):
        self.say("Hello", 1)
        names = self.browser.run("performance.getEntriesByType('resource').map(e => e.name)")
        self.assertGreater(len(names), 5)
        self.assertEqual([n for n in names if not n.startswith(self.url())], [])


if __name__ == "__main__":
    unittest.main(argv=["browser_test"], verbosity=1)
