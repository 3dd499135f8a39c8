/** What the rest of the Worker asks a home about files. */
import { RpcTarget } from "cloudflare:workers";
import type { FileQuery, ListedFile, NewFiles } from "../../api/files.ts";
import type { Viewer } from "../../api/may-see.ts";
import type { HomeAccess } from "../access.ts";
import type { FilesApi } from "../../api/files-api.ts";

export class FilesRpc extends RpcTarget implements FilesApi {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    super();
    this.#at = at;
  }

  async files(viewer: Viewer, query: FileQuery): Promise<ListedFile[]> {
    const { files, conversations, name } = this.#at.home;
    return files.page(viewer, conversations.sharedTo(viewer.name), name, query, Date.now());
  }

  async addFiles(added: NewFiles): Promise<void> {
    this.#at.home.files.add(added);
  }

  async removeFile(id: string): Promise<void> {
    this.#at.home.files.remove(id);
  }
}
