/** Settings for each kind of client. The token stays a variable, because this page does not know it. */

export type Snippet = { name: string; about: string; text: (origin: string) => string };

/** A variable that the client itself fills in. */
const placeholder = (name: string) => `$\{${name}}`;

const NO_APPROVE = "Give it a token without the scope 'approve': a model holds it.";

export const SNIPPETS: readonly Snippet[] = [
  {
    name: "curl",
    about: "One question, and the turn with all of its calls as JSON.",
    text: (origin) => `curl -s ${origin}/v1/conversations/hello/messages \\
  -H "Authorization: Bearer $EDGECALL_TOKEN" \\
  -H "Content-Type: application/json" -d '{"text":"How full is the root disk?"}'`,
  },
  {
    name: "Shortcut or shell",
    about: "Plain text in, plain text out.",
    text: (origin) =>
      `curl -s ${origin}/ask -H "Authorization: Bearer $EDGECALL_TOKEN" -d "How warm is it inside?"`,
  },
  {
    name: "OpenAI (Python)",
    about: NO_APPROVE,
    text: (origin) => `from openai import OpenAI
import os

home = OpenAI(base_url="${origin}/v1", api_key=os.environ["EDGECALL_TOKEN"])
models = home.models.list().data
reply = home.chat.completions.create(
    model=models[0].id,
    messages=[{"role": "user", "content": "Which devices are online?"}],
)
print(reply.choices[0].message.content)`,
  },
  {
    name: "OpenAI (JavaScript)",
    about: NO_APPROVE,
    text: (origin) => `import OpenAI from "openai";

const home = new OpenAI({ baseURL: "${origin}/v1", apiKey: process.env.EDGECALL_TOKEN });
const { data: [model] } = await home.models.list();
const reply = await home.responses.create({ model: model.id, input: "Which devices are online?" });
console.log(reply.output_text);`,
  },
  {
    name: "Claude Code (MCP)",
    about: NO_APPROVE,
    text: (origin) =>
      `claude mcp add --transport http home ${origin}/mcp --header "Authorization: Bearer $EDGECALL_TOKEN"`,
  },
  {
    name: "Claude Desktop (MCP)",
    about: `claude_desktop_config.json, with Node on that machine: its own connectors know OAuth only, so mcp-remote brings the token. ${NO_APPROVE}`,
    text: (origin) =>
      JSON.stringify(
        {
          mcpServers: {
            home: {
              command: "npx",
              args: [
                "-y",
                "mcp-remote",
                `${origin}/mcp`,
                "--header",
                `Authorization:${placeholder("EDGECALL_AUTH")}`,
              ],
              env: { EDGECALL_AUTH: "Bearer YOUR-TOKEN" },
            },
          },
        },
        null,
        2,
      ),
  },
  {
    name: "Open WebUI",
    about: `Admin Settings, Connections, OpenAI API; or as environment. The headers tell one chat from another. ${NO_APPROVE}`,
    text: (origin) => `OPENAI_API_BASE_URL=${origin}/v1
OPENAI_API_KEY=YOUR-TOKEN
ENABLE_FORWARD_USER_INFO_HEADERS=true`,
  },
  {
    name: "Home Assistant",
    about: `Its own OpenAI integration takes no base URL; from HACS, Local OpenAI LLM or Extended OpenAI Conversation do. ${NO_APPROVE}`,
    text: (origin) => `Server URL: ${origin}/v1
API key:    YOUR-TOKEN
Model:      one of the list that it offers then`,
  },
  {
    name: "Cursor (MCP)",
    about: `~/.cursor/mcp.json. ${NO_APPROVE}`,
    text: (origin) =>
      JSON.stringify(
        {
          mcpServers: {
            home: {
              url: `${origin}/mcp`,
              headers: { Authorization: `Bearer ${placeholder("env:EDGECALL_TOKEN")}` },
            },
          },
        },
        null,
        2,
      ),
  },
  {
    name: "VS Code (MCP)",
    about: `.vscode/mcp.json. ${NO_APPROVE}`,
    text: (origin) =>
      JSON.stringify(
        {
          inputs: [{ type: "promptString", id: "edgecall", description: "edgecall token", password: true }],
          servers: {
            home: {
              type: "http",
              url: `${origin}/mcp`,
              headers: { Authorization: `Bearer ${placeholder("input:edgecall")}` },
            },
          },
        },
        null,
        2,
      ),
  },
];
