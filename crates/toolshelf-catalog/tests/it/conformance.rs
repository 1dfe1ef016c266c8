//! Each format under the kit, as its defaults and its options make it.

use toolshelf_catalog::{CatalogOptions, DispatchCatalog, GatewayCatalog, InjectCatalog};
use toolshelf_testkit::catalog::Subject;
use toolshelf_testkit::catalog_tests;

/// Options that change what is shown.
fn short() -> CatalogOptions {
    CatalogOptions {
        header: Some("A header of the options".to_owned()),
        text_bytes: Some(20),
        names_per_group: Some(1),
    }
}

fn dispatch() -> Subject {
    Subject::new(DispatchCatalog::default)
}

fn dispatch_short() -> Subject {
    Subject::new(|| DispatchCatalog::new(short()))
}

fn inject() -> Subject {
    Subject::new(InjectCatalog::default)
}

fn inject_short() -> Subject {
    Subject::new(|| InjectCatalog::new(short()))
}

fn gateway() -> Subject {
    Subject::new(GatewayCatalog::default)
}

fn gateway_short() -> Subject {
    Subject::new(|| GatewayCatalog::new(short()))
}

catalog_tests!(dispatch: names);
catalog_tests!(dispatch_short: names);
catalog_tests!(inject: names, remaining);
catalog_tests!(inject_short: names, remaining);
catalog_tests!(gateway: names, remaining);
catalog_tests!(gateway_short: names, remaining);

mod plugins {
    use toolshelf_testkit::plugin::Subject;
    use toolshelf_testkit::plugin_tests;

    fn dispatch() -> Subject {
        Subject::new(toolshelf_catalog::dispatch::PLUGIN)
    }

    fn inject() -> Subject {
        Subject::new(toolshelf_catalog::inject::PLUGIN)
    }

    fn gateway() -> Subject {
        Subject::new(toolshelf_catalog::gateway::PLUGIN)
    }

    plugin_tests!(dispatch: defaults);
    plugin_tests!(inject: defaults);
    plugin_tests!(gateway: defaults);
}
