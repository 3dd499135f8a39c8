/** `npm run tokens`: a new pair of tokens for a gateway on Cloudflare, and the secrets by which it knows them. */
import { newToken, tokenRecords } from "./tokens.ts";

const tokens = { api: newToken(), bridge: newToken() };
const records = tokenRecords(tokens);

console.log(`Keep these two; nobody can show them again.

  your token (asks)        ${tokens.api}
  the bridge's token       ${tokens.bridge}

The gateway gets only their hashes. Paste each line where wrangler asks for the secret's value:

  npx wrangler secret put API_TOKENS
${records.API_TOKENS}

  npx wrangler secret put BRIDGE_TOKENS
${records.BRIDGE_TOKENS}`);
