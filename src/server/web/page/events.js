/** The JSON of each event of a stream; throws what the server says went wrong. */
export async function* events(response) {
  if (!response.ok) {
    const body = await response.json().catch(() => null);
    throw new Error(body?.error?.message ?? "the server answered " + response.status);
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error("the answer broke off");
    held += value;
    const parts = held.split("\n\n");
    held = parts.pop();
    for (const part of parts) {
      if (!part.startsWith("data: ")) continue;
      if (part === "data: [DONE]") return;
      const json = JSON.parse(part.slice(6));
      if (json.error) throw new Error(json.error.message);
      yield json;
    }
  }
}
