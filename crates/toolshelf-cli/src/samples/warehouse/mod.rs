//! A small warehouse with orders.

mod data;
mod orders;
mod stock;

use std::sync::Arc;

use toolshelf_core::{Error, Tool};

use self::data::Warehouse;
use super::tool::{self, Run};

/// Its tools.
pub(super) fn tools() -> Result<Vec<Arc<dyn Tool>>, Error> {
    tool::tools(include_str!("tools.json"), Warehouse::new(), run)
}

fn run(name: &str) -> Option<Run<Warehouse>> {
    Some(match name {
        "search" => Run::Now(stock::search),
        "get_item" => Run::Now(stock::get_item),
        "create_item" => Run::Now(stock::create_item),
        "update_item" => Run::Now(stock::update_item),
        "get_stock" => Run::Now(stock::get_stock),
        "list_low_stock" => Run::Now(stock::list_low_stock),
        "adjust_stock" => Run::Now(stock::adjust_stock),
        "transfer_stock" => Run::Now(stock::transfer_stock),
        "reserve_stock" => Run::Now(stock::reserve_stock),
        "list_locations" => Run::Now(stock::list_locations),
        "stocktake" => Run::Slow(stock::stocktake),
        "list_suppliers" => Run::Now(orders::list_suppliers),
        "create_purchase_order" => Run::Now(orders::create_purchase_order),
        "create_order" => Run::Now(orders::create_order),
        "get_order" => Run::Now(orders::get_order),
        "list_orders" => Run::Now(orders::list_orders),
        "cancel_order" => Run::Now(orders::cancel_order),
        "ship_order" => Run::Now(orders::ship_order),
        "track_shipment" => Run::Now(orders::track_shipment),
        "add_note" => Run::Now(orders::add_note),
        _ => return None,
    })
}
