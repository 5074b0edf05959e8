use super::*;

#[test]
fn the_share_is_that_of_the_range() {
    let smaps = "7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \nSize: 4096 kB\n\
                 Rss:                4096 kB\nAnonHugePages:      2048 kB\n\
                 7f0000400000-7f0000800000 rw-p 00000000 00:00 0 \nRss: 4096 kB\n\
                 AnonHugePages: 4096 kB\n";
    let at = |from: usize, to: usize| huge_share(smaps, from, to);
    assert_eq!(at(0x7f00_0000_0000, 0x7f00_0040_0000), Some(0.5));
    assert_eq!(at(0x7f00_0040_0000, 0x7f00_0080_0000), Some(1.0));
    assert_eq!(at(0, 0x1000), None);
}

#[test]
fn memory_is_aligned_kept_and_reports_its_node() {
    let bytes = 8 << 20;
    let arena = Arena::map(bytes, Pages::Small, 0).unwrap();
    assert_eq!(arena.base().addr() % ALIGNMENT, 0);
    arena.place_here(0, bytes);
    let placement = arena.placement(bytes as u64);
    assert_eq!(placement.huge, Some(0.0), "small pages were asked for");
    if let Some(misplaced) = placement.misplaced {
        assert_eq!(misplaced, 0.0, "touched from here");
        arena.expect(0, bytes, 77);
        assert_eq!(arena.placement(bytes as u64).misplaced, Some(1.0));
    } else {
        proofmark_testing::skip("move_pages is refused here");
    }
}

#[test]
fn contents_are_shared_by_all_who_use_them_at_the_same_time() {
    let content = "the contents of a test";
    let get = |content, bytes, pages| Arena::shared(content, bytes, pages, 1).unwrap();
    let bytes = ALIGNMENT as u64;
    // An arena of exactly the needed size, added to the list like any other.
    let first = Arc::new(Arena::map_exactly(ALIGNMENT, Pages::Small, split(1)).unwrap());
    assert!(!first.holds(content), "to be filled");
    lock(&SHARED).push(Arc::downgrade(&first));
    let (second, filled) = get(content, bytes, Pages::Small);
    assert!(filled && Arc::ptr_eq(&first, &second));
    for (content, bytes, pages) in [
        ("other contents of a test", bytes, Pages::Small),
        (content, bytes, Pages::Huge),
        (content, bytes + 1, Pages::Small),
    ] {
        let (other, filled) = get(content, bytes, pages);
        assert!(!filled && !Arc::ptr_eq(&first, &other), "{content}, {bytes} B, {pages:?}");
        let (again, filled) = get(content, bytes, pages);
        assert!(filled && Arc::ptr_eq(&other, &again), "what is new is shared too");
        other.holds("nothing");
    }
    // Contents that were found to be wrong are not shared any more.
    first.holds("something wrong");
    let (other, filled) = get(content, bytes, Pages::Small);
    assert!(!filled && !Arc::ptr_eq(&first, &other));
    let apart = Arena::map_exactly(ALIGNMENT, Pages::Small, split(1) + 1).unwrap();
    let apart = Arc::new(apart);
    apart.holds("contents that other threads placed");
    lock(&SHARED).push(Arc::downgrade(&apart));
    let (other, _) = get("contents that other threads placed", bytes, Pages::Small);
    assert!(!Arc::ptr_eq(&apart, &other));
}

#[test]
fn unavailable_memory_is_refused() {
    assert!(Arena::get(1 << 62, Pages::Huge, 1).is_err());
}
