// The program in the link: JSON, compressed, behind the #. It is never sent to a server.

const MOST = 65536; // characters; a link of a few bytes may unpack to very many

async function through(stream, bytes) {
  const whole = new Blob([bytes]).stream().pipeThrough(stream);
  const reader = whole.getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MOST) {
      await reader.cancel();
      throw new RangeError("the link is too long");
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Return the part of a link behind the # for what was typed. */
export async function packed(state) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(state)));
  const text = btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(""));
  return "1" + text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Return what was typed, or null if a link holds nothing of ours. */
export async function unpacked(hash) {
  const text = hash.replace("#", "");
  if (!text.startsWith("1") || text.length > MOST) return null;
  try {
    const raw = atob(text.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(raw, (c) => c.charCodeAt(0));
    const found = JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes)));
    return found !== null && typeof found === "object" && !Array.isArray(found) ? found : null;
  } catch {
    return null;
  }
}
