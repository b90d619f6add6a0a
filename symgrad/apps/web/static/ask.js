// How the page asks: a server, which answers with a line of JSON for each part.

/**
 * Ask a question.
 * @param {object} question what symgrad/apps/web/answers.py takes
 * @param {(part: object) => void} tell called with each part as it arrives
 * @param {AbortSignal} signal ends the search for an answer that nobody waits for
 */
export async function ask(question, tell, signal) {
  const response = await answered(question, signal, 3);
  if (!response.ok) throw new Error((await response.text()).trim() || `the server says ${response.status}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) tell(JSON.parse(line));
  }
}

/** Return the response; of a server that is busy, when it is no more. */
async function answered(question, signal, times) {
  const response = await fetch("answer", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(question),
    signal,
  });
  if ((response.status !== 429 && response.status !== 503) || times === 0) return response;
  const seconds = Math.min(Number(response.headers.get("Retry-After")) || 1, 5);
  await new Promise((done) => setTimeout(done, 1000 * seconds));
  signal.throwIfAborted();
  return answered(question, signal, times - 1);
}
