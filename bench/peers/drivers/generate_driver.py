"""What drivers of libraries have in common that only generate from whole prompts.

A driver gives _generate(prompts, n_tokens) -> (seconds, result) and n_vocab.
"""

import protocol


class GenerateDriver:
    def prefill(self, n_tokens):
        return {"seconds": self._generate([protocol.prompt_ids(self.n_vocab, n_tokens)], 1)[0]}

    def decode(self, batch, depth, n_tokens):
        # The first token comes out of the prompt, so a difference of two runs is what the others took.
        prompts = [protocol.prompt_ids(self.n_vocab, max(depth, 1))] * batch
        first = self._generate(prompts, 1)[0]
        return {"seconds": self._generate(prompts, n_tokens + 1)[0] - first}
