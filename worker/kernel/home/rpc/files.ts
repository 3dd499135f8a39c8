/** What the rest of the Worker asks a home about files. */

import type { FileQuery, ListedFile, NewFiles } from "../../api/files.ts";
import type { FilesApi } from "../../api/files-api.ts";
import type { Viewer } from "../../api/may-see.ts";
import { filesOf } from "../files/file-list.ts";
import { HomePart } from "../part.ts";
import { conversationListOf } from "../people/conversation-list.ts";

export class FilesRpc extends HomePart implements FilesApi {
  async files(viewer: Viewer, query: FileQuery): Promise<ListedFile[]> {
    const { name } = this.home;
    return filesOf(this.home).page(
      viewer,
      conversationListOf(this.home).sharedTo(viewer.name),
      name,
      query,
      Date.now(),
    );
  }

  async addFiles(added: NewFiles): Promise<void> {
    filesOf(this.home).add(added);
  }

  async removeFile(id: string): Promise<void> {
    filesOf(this.home).remove(id);
  }
}
