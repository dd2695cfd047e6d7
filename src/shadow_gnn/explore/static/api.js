// Questions to the server that served this page, and to no other.
// Not for: what the answers mean (model.js, panels).

let token = null;

/** Take a token out of the address, so that it is neither shared nor kept in the history. */
export function takeToken() {
  const words = new URLSearchParams(location.hash.slice(1));
  if (words.has("token")) {
    token = words.get("token");
    sessionStorage.setItem("token", token);
    words.delete("token");
    history.replaceState(null, "", `${location.pathname}#${words}`);
  } else token = sessionStorage.getItem("token");
}

/** Return the answer to a question; body: posted as JSON if given. A fault is thrown with the server's one line. */
export async function ask(path, { body, signal } = {}) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  if (body) headers["Content-Type"] = "application/json";
  const sent = { method: body ? "POST" : "GET", headers, signal, body: body && JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(`/v1/explore/${path}`, sent);
  } catch (fault) {
    if (fault.name === "AbortError") throw fault;
    throw new Error("The server does not answer. Is `shadow explore` still running?");
  }
  const data = await answer.json().catch(() => ({ error: `status ${answer.status}` }));
  if (!answer.ok) throw new Error(data.error ?? `status ${answer.status}`);
  return data;
}

/** Ask again until the answer says that all is computed; told: called with the progress from 0 to 1. */
export async function askUntilDone(path, { body, signal, told }) {
  for (;;) {
    const answer = await ask(path, { body, signal });
    if (answer.progress >= 1 || answer.nodes?.length) return answer;
    told(answer.progress);
    await new Promise((resolve) => setTimeout(resolve, 300));
    signal?.throwIfAborted();
  }
}

/** Hand a question over to a newer one: each call ends the one before it. */
export function newest() {
  let running = null;
  return () => {
    running?.abort();
    running = new AbortController();
    return running.signal;
  };
}
