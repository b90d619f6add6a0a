// How the page asks where there is no server: a web worker, which has Python in WebAssembly and symgrad in it.

const START = 120_000; // ms, in which Python and its packages must be there
const PART = 30_000; // ms, after which a part that does not end costs the worker

let worker = null;
let ready = null;
let turn = Promise.resolve();

function started() {
  if (ready !== null) return ready;
  worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  ready = new Promise((done, failed) => {
    const late = setTimeout(() => failed(new Error("Python does not start in this browser")), START);
    worker.onmessage = ({ data }) => {
      clearTimeout(late);
      if (data.ready) done();
      else failed(new Error(data.failed || "Python does not start"));
    };
    worker.onerror = (event) => {
      clearTimeout(late);
      failed(new Error(event.message || "Python does not start"));
    };
  }).catch((error) => {
    ended();
    throw error;
  });
  return ready;
}

function ended() {
  worker?.terminate();
  worker = ready = null;
}

/**
 * Ask a question; see ask.js of the package, in whose place this is.
 *
 * A worker answers one question at a time: the next waits, and one that nobody waits for is left at its next part.
 */
export function ask(question, tell, signal) {
  const mine = turn.then(() => asked(question, tell, signal));
  turn = mine.catch(() => undefined);
  return mine;
}

async function asked(question, tell, signal) {
  const parts = [...question.parts];
  while (parts.length > 0) {
    signal.throwIfAborted();
    await started();
    signal.throwIfAborted();
    const part = parts.shift(); // one at a time, so that a new question has to wait for no more than one
    const found = await answered({ ...question, parts: [part] });
    if (!signal.aborted) tell(found ?? { part, error: { message: `this takes longer than ${PART / 1000} s` } });
  }
}

function answered(question) {
  return new Promise((done, failed) => {
    const late = setTimeout(() => {
      ended();
      done(null);
    }, PART);
    worker.onmessage = ({ data }) => {
      clearTimeout(late);
      if (data.failed) failed(new Error(data.failed));
      else done(JSON.parse(data.answer));
    };
    worker.onerror = (event) => {
      clearTimeout(late);
      ended();
      failed(new Error(event.message || "Python has ended"));
    };
    worker.postMessage(JSON.stringify(question));
  });
}
