// Python in WebAssembly, in a worker of its own, which is a module: Pyodide runs in no other one any more. Its own files are
// expected beside this one, in pyodide/.

const FLINT = "python_flint-0.9.0-cp314-cp314-pyemscripten_2026_0_wasm32.whl"; // which Pyodide 314 has not among its own
const PACKAGES = ["numpy", "scipy"];

const MISSING = `
from importlib.util import find_spec
", ".join(name for name in ("numpy", "scipy", "flint") if find_spec(name) is None)
`;

const ANSWER = `
import json
from symgrad.apps.web.answers import QuestionError, answer, validate_question

def answered(text):
    (part,) = answer(validate_question(json.loads(text)))
    return json.dumps(part)

answered
`;

async function begin() {
  const { loadPyodide } = await import("./pyodide/pyodide.mjs").catch(() => {
    throw new Error("Pyodide is not here: put its files into the folder pyodide beside this page");
  });
  const python = await loadPyodide({ indexURL: new URL("pyodide/", import.meta.url).pathname });
  await python.loadPackage(PACKAGES).catch(() => undefined); // a file that is not there is told, or told on the console alone
  await python.loadPackage(new URL(`pyodide/${FLINT}`, import.meta.url).href).catch(() => undefined);
  const missing = python.runPython(MISSING);
  if (missing) throw new Error(`the folder pyodide lacks packages: ${missing}`);
  const found = await fetch("symgrad.zip");
  python.unpackArchive(await found.arrayBuffer(), "zip");
  return python.runPython(ANSWER);
}

const answered = begin().then(
  (answer) => {
    postMessage({ ready: true });
    return answer;
  },
  (error) => postMessage({ failed: error.message || String(error) }),
);

onmessage = async ({ data }) => {
  try {
    postMessage({ answer: (await answered)(data) });
  } catch (error) {
    postMessage({ failed: String(error) });
  }
};
