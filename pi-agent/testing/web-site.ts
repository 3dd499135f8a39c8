/** Real servers on this machine, for tests of allowed and forbidden connections. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";

export type Site = { port: number; asked: string[]; close(): Promise<void> };

/** A web site; `asked` has the paths of its requests. */
export async function startSite(host: string, answer: RequestListener): Promise<Site> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    answer(request, response);
  });
  server.listen(0, host);
  await once(server, "listening");
  return {
    asked,
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

export type Trap = { port: number; connections(): number; close(): Promise<void> };

/** Counts connections and datagrams with any content, on one port of IPv4's and IPv6's loopback. */
export async function startTrap(): Promise<Trap> {
  let connections = 0;
  const servers = ["127.0.0.1", "::1"].map((host) => ({
    host,
    server: createTcpServer((socket) => {
      connections += 1;
      socket.on("error", () => {});
      // Answers, so that a page would notice that it got through.
      socket.end(
        "HTTP/1.1 200 OK\r\ncontent-length: 7\r\naccess-control-allow-origin: *\r\n\r\nREACHED",
        () => socket.destroy(),
      );
    }),
  }));
  let port = 0;
  for (const { host, server } of servers) {
    server.listen(port, host);
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  }
  const datagrams = createSocket("udp4", () => {
    connections += 1;
  });
  datagrams.bind(port, "127.0.0.1");
  await once(datagrams, "listening");
  return {
    port,
    connections: () => connections,
    close: async () => {
      datagrams.close();
      for (const { server } of servers) await new Promise((resolve) => server.close(resolve));
    },
  };
}
