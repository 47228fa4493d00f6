// Package sqlitebackend keeps a crawl in one SQLite file: the frontier with its seen set, and the store. A crawl that is
// killed goes on where it stood.
//
//	db, err := sqlitebackend.Open(ctx, "films.db", sqlitebackend.Options{})
//	if err != nil {
//		return err
//	}
//	defer db.Close()
//	eng, err := crawler.New(crawler.Config{Name: "films", Handler: handler, Frontier: db.Frontier(), Store: db.Store()})
//
// The frontier is a crawler.Memory with a journal in the file: each call is written down, and takes effect for the caller
// once that is committed. Commits are made for many calls at a time. The links, the items and the end of a page are one
// transaction; what middlewares keep of it belongs to that if they are given a crawler.StagedStore.
//
// Cookies are in the file too where cookie.Jars have its store: Jars.Save, called in Hooks.Settle, writes those of a page
// down before it is settled.
//
// What the death of the process leaves is whole: work that was under way is done again, as the rules of crawler.Frontier
// say, and nothing is lost. One process at a time has a crawl; a second gets a *LockedError, but may look at it with
// Options.ReadOnly.
//
// With Options.SnapshotEvery a damaged or missing file gives way to the newest copy that is whole, and DB.Recovery says what is
// lost. OpenStore reads the items of a file that nothing can replace. A copy that was made by other means is whole only if the
// crawl was closed, and its log is copied with it if there is one: of a running crawl Snapshot makes copies.
package sqlitebackend
