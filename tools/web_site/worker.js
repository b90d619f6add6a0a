// Python in WebAssembly, in a worker of its own. Pyodide's own files are expected beside this one, in pyodide/.

importScripts("pyodide/pyodide.js");

const PACKAGES = ["numpy", "scipy", "mpmath", "sympy", "python-flint"];

const ANSWER = `
import json
from symgrad.web.answers import QuestionError, answer, checked

def answered(text):
    (part,) = answer(checked(json.loads(text)))
    return json.dumps(part)

answered
`;

async function begin() {
  const python = await loadPyodide({ indexURL: "pyodide/" });
  await python.loadPackage(PACKAGES);
  const found = await fetch("symgrad.zip");
  python.unpackArchive(await found.arrayBuffer(), "zip");
  return python.runPython(ANSWER);
}

const answered = begin().then(
  (answer) => {
    postMessage({ ready: true });
    return answer;
  },
  (error) => postMessage({ failed: String(error) }),
);

onmessage = async ({ data }) => {
  try {
    postMessage({ answer: (await answered)(data) });
  } catch (error) {
    postMessage({ failed: String(error) });
  }
};
