// Lists that are requested in pages: members, and the results of a search.

export class MemberList {
  #store;
  #page;
  #version = 0;
  #latest;
  members = [];
  total = 0;
  hasMore = false;
  loading = true;

  constructor(store, conv, query, state) {
    this.#store = store;
    this.conv = conv;
    this.query = query.trim();
    this.state = state;
    this.ready = this.reload();
  }

  close() { this.#store.closed(this); }
  loadMore() { return this.hasMore && !this.loading ? this.#begin(this.#page) : Promise.resolve(); }
  reload() { return this.#begin(undefined); }

  #begin(page) { return (this.#latest = this.#load(page, (this.#version += 1))); }

  /**
   * Loads a page. If a later load replaces this one, the promise settles together with the later
   * one.
   */
  async #load(page, version) {
    this.loading = true;
    try {
      const answer = await this.#store.verb("members", { conv: this.conv, query: this.query || undefined, state: this.state === "joined" ? undefined : this.state, page });
      if (version !== this.#version) return await this.#latest;
      this.members = page ? [...this.members, ...answer.members] : answer.members;
      this.total = answer.total;
      this.#page = answer.page;
      this.hasMore = Boolean(answer.page);
      this.error = null;
      this.#store.remember(answer.members.map((each) => each.user));
      this.#store.marked(answer.members.filter((each) => each.read).map((each) => ({ conv: this.conv, user: each.user.name, read: each.read })));
    } catch (error) {
      if (version !== this.#version) return await this.#latest;
      this.error = error;
    }
    this.loading = false;
    this.#store.changed(`members:${this.conv}`);
  }
}

/**
 * Searches messages, people and conversations. Without a connection, messages are searched in the
 * cache of this device.
 */
export async function search(store, query, filters) {
  const text = query.trim();
  if (!text) return { hits: [], people: [], conversations: [], hasMore: false, more: async () => search(store, query, filters) };
  const [found, people] = await Promise.all([
    store.port.request("search", { query: text, ...filters }),
    filters.conv ? { users: [] } : store.people(text).catch(() => ({ users: [] })),
  ]);
  store.remember(people.users);
  return hits(store, text, filters, found, people.users, []);
}

function hits(store, query, filters, found, people, before) {
  const all = [...before, ...found.hits];
  return {
    hits: all, people, conversations: filters.conv ? [] : store.conversations({ query }), hasMore: Boolean(found.page), isLocal: Boolean(found.local),
    more: async () => hits(store, query, filters, await store.port.request("search", { query, ...filters, page: found.page }), people, all),
  };
}
