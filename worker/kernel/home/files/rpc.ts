/** What the rest of the Worker asks a home about files. */

import { RpcTarget } from "cloudflare:workers";
import type { FileQuery, ListedFile, NewFiles } from "../../api/files.ts";
import type { FilesApi } from "../../api/files-api.ts";
import type { Viewer } from "../../api/may-see.ts";
import type { HomeAccess } from "../access.ts";
import { conversationListOf } from "../people/conversation-list.ts";
import { filesOf } from "./file-list.ts";

export class FilesRpc extends RpcTarget implements FilesApi {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    super();
    this.#at = at;
  }

  async files(viewer: Viewer, query: FileQuery): Promise<ListedFile[]> {
    const files = filesOf(this.#at.home);
    const conversations = conversationListOf(this.#at.home);
    const { name } = this.#at.home;
    return files.page(viewer, conversations.sharedTo(viewer.name), name, query, Date.now());
  }

  async addFiles(added: NewFiles): Promise<void> {
    filesOf(this.#at.home).add(added);
  }

  async removeFile(id: string): Promise<void> {
    filesOf(this.#at.home).remove(id);
  }
}
