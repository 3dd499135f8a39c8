/**
 * A client in Node, without a package: it asks one question and prints the answer. What a device needs an approval for is named, and is
 * left to the person.
 *
 *   EDGECALL_URL=http://localhost:8787 EDGECALL_TOKEN=… node ask.mjs "How full is the root disk?"
 */
const { EDGECALL_URL = "http://localhost:8787", EDGECALL_TOKEN = "" } = process.env;
const text = process.argv.slice(2).join(" ");
const conversation = `${EDGECALL_URL}/v1/conversations/example-node`;

async function call(url, { body, ...headers } = {}) {
  const response = await fetch(url, {
    method: body ? "POST" : "GET",
    headers: { authorization: `Bearer ${EDGECALL_TOKEN}`, "content-type": "application/json", ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  // Each error has words for a person, which name the wrong field.
  if (!response.ok) throw new Error(answer.error?.message ?? `the gateway answered ${response.status}`);
  return answer;
}

try {
  // A repeat under the same key is the same question: nothing is done twice.
  const key = crypto.randomUUID();
  let turn = await call(`${conversation}/messages`, { body: { text }, "idempotency-key": key });
  // A slow device, or a person who has to say yes.
  while (turn.status === "running") {
    for (const { text: question } of turn.waiting?.questions ?? [])
      console.error(`waits for you: ${question}`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    turn = await call(`${conversation}/turns/${turn.turn}`);
  }
  console.log(turn.answer);
  process.exitCode = turn.status === "done" ? 0 : 1;
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
