//! Rendering the catalog of 10, 100 and 1,000 groups of 20 tools.

#![allow(
    clippy::unwrap_used,
    reason = "a benchmark that cannot be set up has to stop"
)]

use divan::Bencher;
use toolshelf_benches::groups;
use toolshelf_catalog::{DispatchCatalog, GatewayCatalog};
use toolshelf_core::catalog::{CatalogFormat, CatalogGroup, CatalogView};

fn main() {
    divan::main();
}

fn render(bencher: Bencher<'_, '_>, count: usize, format: &dyn CatalogFormat) {
    let groups = groups(count, 20).unwrap();
    let view = CatalogView {
        groups: groups
            .iter()
            .map(|group| CatalogGroup {
                id: &group.id,
                title: group.title.as_deref(),
                description: group.description.as_deref(),
                names: group.declared.as_ref().map(|names| names.iter().collect()),
                partly_loaded: false,
            })
            .collect(),
        ..CatalogView::default()
    };
    bencher.bench(|| format.render(divan::black_box(&view)));
}

#[divan::bench(args = [10, 100, 1_000])]
fn dispatch_in_full(bencher: Bencher<'_, '_>, groups: usize) {
    render(bencher, groups, &DispatchCatalog::default());
}

#[divan::bench(args = [10, 100, 1_000])]
fn gateway_in_2000_bytes(bencher: Bencher<'_, '_>, groups: usize) {
    render(bencher, groups, &GatewayCatalog::default());
}
