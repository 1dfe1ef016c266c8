//! Orders, to customers and from suppliers.

use serde_json::{Value, json};

use super::data::{Line, Order, Warehouse, euros};
use crate::samples::input::Input;
use crate::samples::tool::{Reply, lines, reply};

pub(super) fn create_order(all: &mut Warehouse, input: Input<'_>) -> Reply {
    let customer = input.text("customer")?;
    let ship_to = Value::Object(input.object("ship_to")?.0.clone());
    let allow_backorder = input.flag_or("allow_backorder", false);
    let mut wanted = Vec::new();
    let mut missing = Vec::new();
    for line in input.objects("lines") {
        let item = all.item(line.text("sku")?)?;
        let quantity = line.int("quantity")?;
        if item.status == "discontinued" || item.free() < quantity {
            missing.push(item.sku.clone());
        }
        let full = item.price_cents.saturating_mul(quantity);
        let percent = 100.0 - line.number_or("discount_percent", 0.0);
        wanted.push(Line {
            sku: item.sku.clone(),
            quantity,
            // Cents of a sum of money are far below the precision of a double.
            total_cents: (full as f64 * percent / 100.0).round() as i64,
            reserved: quantity.min(item.free().max(0)),
        });
    }
    if wanted.is_empty() {
        return Err("An order needs at least one line.".to_owned());
    }
    if !missing.is_empty() && !allow_backorder {
        return Err(format!(
            "Nothing was ordered: not enough of {}. Set `allow_backorder` to order nevertheless.",
            missing.join(", ")
        ));
    }
    for line in &wanted {
        all.item(&line.sku)?.reserved += line.reserved;
    }
    let order = Order {
        number: format!("SO-{}", 1_001 + all.orders.len()),
        customer: customer.to_owned(),
        lines: wanted,
        ship_to,
        state: "open".to_owned(),
        notes: input
            .maybe_object("gift")
            .and_then(|gift| gift.maybe_text("message"))
            .map(|message| format!("gift: {message}"))
            .into_iter()
            .collect(),
        tracking: Vec::new(),
    };
    let answer = reply(
        format!(
            "Created {} for {customer}: {}",
            order.number,
            euros(order.total_cents())
        ),
        &json!({
            "order": order.number,
            "total_cents": order.total_cents(),
            "backordered": missing,
        }),
    );
    all.orders.push(order);
    answer
}

pub(super) fn get_order(all: &mut Warehouse, input: Input<'_>) -> Reply {
    let order = all.order(input.text("order")?)?;
    reply(order.line(), &order.whole())
}

pub(super) fn list_orders(all: &mut Warehouse, input: Input<'_>) -> Reply {
    let states = input.texts("states");
    let found: Vec<&Order> = all
        .orders
        .iter()
        .rev()
        .filter(|order| states.is_empty() || states.contains(&order.state.as_str()))
        .filter(|order| {
            input
                .maybe_text("customer")
                .is_none_or(|customer| order.customer == customer)
        })
        .filter(|order| {
            input
                .maybe_text("sku")
                .is_none_or(|sku| order.lines.iter().any(|line| line.sku == sku))
        })
        .take(input.count_or("limit", 20))
        .collect();
    let text: Vec<String> = found.iter().map(|order| order.line()).collect();
    reply(
        lines(&text, "There are no such orders."),
        &json!({"orders": found.iter().map(|order| order.row()).collect::<Vec<_>>()}),
    )
}

pub(super) fn cancel_order(all: &mut Warehouse, input: Input<'_>) -> Reply {
    let reason = input.text("reason")?;
    let order = all.order(input.text("order")?)?;
    match order.state.as_str() {
        "shipped" | "delivered" => {
            return Err(format!("{} is {} already.", order.number, order.state));
        }
        _ => "cancelled".clone_into(&mut order.state),
    }
    let answer = reply(
        format!("Cancelled {}", order.number),
        &json!({
            "order": order.number,
            "reason": reason,
            "refund_cents": if input.flag_or("refund", true) { order.total_cents() } else { 0 },
        }),
    );
    let freed: Vec<(String, i64)> = order
        .lines
        .iter_mut()
        .map(|line| (line.sku.clone(), std::mem::take(&mut line.reserved)))
        .collect();
    for (sku, reserved) in freed {
        all.item(&sku)?.reserved -= reserved;
    }
    answer
}

pub(super) fn ship_order(all: &mut Warehouse, input: Input<'_>) -> Reply {
    let number = input.text("order")?;
    let carrier = input.text("carrier")?;
    let order = all.order(number)?;
    if !matches!(order.state.as_str(), "open" | "packed") {
        return Err(format!("{number} is {}.", order.state));
    }
    if let Some(line) = order
        .lines
        .iter()
        .find(|line| line.reserved < line.quantity)
    {
        return Err(format!("{} is not complete: {}.", number, line.sku));
    }
    let lines: Vec<(String, i64)> = order
        .lines
        .iter_mut()
        .map(|line| (line.sku.clone(), std::mem::take(&mut line.reserved)))
        .collect();
    let mut weight = 0;
    for (sku, quantity) in &lines {
        let item = all.item(sku)?;
        item.reserved -= quantity;
        weight += item.weight_g * quantity;
        let mut left = *quantity;
        for count in item.stock.values_mut() {
            let taken = left.min(*count);
            *count -= taken;
            left -= taken;
        }
    }
    let mut parcels: Vec<i64> = input
        .objects("parcels")
        .iter()
        .map(|parcel| parcel.int("weight_g"))
        .collect::<Result<_, _>>()?;
    if parcels.is_empty() {
        parcels.push(weight);
    }
    let first = all.shipments + 2;
    all.shipments += parcels.len();
    let tracking: Vec<String> = (0..parcels.len())
        .map(|at| format!("TRK{:06}", 500_000 + first + at))
        .collect();
    let order = all.order(number)?;
    "shipped".clone_into(&mut order.state);
    order.tracking.clone_from(&tracking);
    reply(
        format!("Shipped {number} by {carrier}: {}", tracking.join(", ")),
        &json!({
            "order": number,
            "carrier": carrier,
            "service": input.text_or("service", "standard"),
            "tracking": tracking,
            "weights_g": parcels,
        }),
    )
}

pub(super) fn track_shipment(all: &mut Warehouse, input: Input<'_>) -> Reply {
    let tracking = input.maybe_text("tracking");
    let number = input.maybe_text("order");
    let order = all.orders.iter().find(|order| match (tracking, number) {
        (Some(tracking), _) => order.tracking.iter().any(|own| own == tracking),
        (None, number) => Some(order.number.as_str()) == number,
    });
    let order = order.ok_or("There is no such shipment.")?;
    if order.tracking.is_empty() {
        return Err(format!("{} has not been shipped.", order.number));
    }
    reply(
        format!(
            "{} is on its way: left the warehouse on 2 March.",
            order.tracking.join(", ")
        ),
        &json!({
            "order": order.number,
            "tracking": order.tracking,
            "events": [{"at": "2026-03-02T16:10:00+01:00", "what": "handed over to the carrier"}],
        }),
    )
}

pub(super) fn add_note(all: &mut Warehouse, input: Input<'_>) -> Reply {
    let text = input.text("text")?;
    let audience = input.text_or("audience", "packing");
    let order = all.order(input.text("order")?)?;
    order.notes.push(format!("{audience}: {text}"));
    reply(
        format!("{} has {} note(s)", order.number, order.notes.len()),
        &json!({"order": order.number, "notes": order.notes}),
    )
}

pub(super) fn list_suppliers(all: &mut Warehouse, input: Input<'_>) -> Reply {
    let of_item = match input.maybe_text("sku") {
        None => None,
        Some(sku) => Some(all.item(sku)?.supplier.clone()),
    };
    let most = input.int_or("max_lead_days", i64::MAX);
    let found: Vec<_> = all
        .suppliers
        .iter()
        .filter(|supplier| supplier.lead_days <= most)
        .filter(|supplier| {
            of_item
                .as_ref()
                .is_none_or(|of| of.as_deref() == Some(supplier.id))
        })
        .collect();
    let text: Vec<String> = found
        .iter()
        .map(|supplier| {
            format!(
                "{}  {} ({}), {} days",
                supplier.id, supplier.name, supplier.country, supplier.lead_days
            )
        })
        .collect();
    reply(
        lines(&text, "There is no such supplier."),
        &json!({"suppliers": found
            .iter()
            .map(|supplier| json!({
                "id": supplier.id,
                "name": supplier.name,
                "country": supplier.country,
                "lead_days": supplier.lead_days,
            }))
            .collect::<Vec<_>>()}),
    )
}

pub(super) fn create_purchase_order(all: &mut Warehouse, input: Input<'_>) -> Reply {
    let id = input.text("supplier")?;
    let lead_days = all.supplier(id)?.lead_days;
    let location = input.text_or("deliver_to", "packing");
    all.location(location)?;
    let mut total = 0_i64;
    let mut count = 0;
    for line in input.objects("lines") {
        let item = all.item(line.text("sku")?)?;
        if item.supplier.as_deref() != Some(id) {
            return Err(format!("{} is not supplied by {id}.", item.sku));
        }
        let cost = line.int_or("unit_cost_cents", item.price_cents * 60 / 100);
        total = total.saturating_add(cost.saturating_mul(line.int("quantity")?));
        count += 1;
    }
    if count == 0 {
        return Err("A purchase order needs at least one line.".to_owned());
    }
    all.purchases += 1;
    let number = format!("PO-{}", 700 + all.purchases);
    reply(
        format!(
            "Ordered {count} item(s) from {id} as {number}: {}, in {lead_days} days",
            euros(total)
        ),
        &json!({
            "purchase_order": number,
            "total_cents": total,
            "lead_days": lead_days,
            "deliver_to": location,
            "reference": input.maybe_text("reference"),
        }),
    )
}
