/** `npm run tokens`: makes new tokens for a gateway on Cloudflare, and the secrets with which it verifies them. */
import { newToken, tokenRecords } from "./tokens.ts";

const tokens = { api: newToken(), client: newToken(), bridge: newToken() };
const records = tokenRecords(tokens);

console.log(`Keep these three; nobody can show them again.

  your own token           ${tokens.api}
  for OpenAI, MCP clients  ${tokens.client}   (asks; cannot approve)
  the bridge's token       ${tokens.bridge}

The gateway gets only their hashes. Cloudflare takes secrets of up to 5 KB, which is 25 to 30 tokens: make further ones
with "edgecall tokens add". Paste each line where wrangler asks for the secret's value:

  npx wrangler secret put API_TOKENS
${records.API_TOKENS}

  npx wrangler secret put BRIDGE_TOKENS
${records.BRIDGE_TOKENS}

The third only if the gateway has none yet: what chat apps were connected by cannot be read with another one.

  npx wrangler secret put CONNECTIONS_KEY
${newToken()}`);
