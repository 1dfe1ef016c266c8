//! The records of the warehouse.

use std::collections::BTreeMap;

use serde_json::{Value, json};

pub(super) struct Item {
    pub(super) sku: String,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) category: String,
    pub(super) price_cents: i64,
    pub(super) supplier: Option<String>,
    pub(super) reorder_at: i64,
    pub(super) status: String,
    /// On hand, by location.
    pub(super) stock: BTreeMap<String, i64>,
    pub(super) reserved: i64,
    pub(super) weight_g: i64,
}

pub(super) struct Location {
    pub(super) id: &'static str,
    pub(super) kind: &'static str,
    pub(super) capacity: i64,
}

pub(super) struct Supplier {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) country: &'static str,
    pub(super) lead_days: i64,
}

pub(super) struct Line {
    pub(super) sku: String,
    pub(super) quantity: i64,
    pub(super) total_cents: i64,
    /// How many are reserved for it.
    pub(super) reserved: i64,
}

pub(super) struct Order {
    pub(super) number: String,
    pub(super) customer: String,
    pub(super) lines: Vec<Line>,
    pub(super) ship_to: Value,
    pub(super) state: String,
    pub(super) notes: Vec<String>,
    pub(super) tracking: Vec<String>,
}

pub(super) struct Warehouse {
    pub(super) items: Vec<Item>,
    pub(super) locations: Vec<Location>,
    pub(super) suppliers: Vec<Supplier>,
    pub(super) orders: Vec<Order>,
    pub(super) purchases: usize,
    pub(super) shipments: usize,
}

impl Item {
    pub(super) fn on_hand(&self) -> i64 {
        self.stock.values().sum()
    }

    pub(super) fn free(&self) -> i64 {
        self.on_hand() - self.reserved
    }

    pub(super) fn row(&self) -> Value {
        json!({
            "sku": self.sku,
            "name": self.name,
            "category": self.category,
            "price_cents": self.price_cents,
            "free": self.free(),
        })
    }

    pub(super) fn whole(&self) -> Value {
        json!({
            "sku": self.sku,
            "name": self.name,
            "description": self.description,
            "category": self.category,
            "price_cents": self.price_cents,
            "supplier": self.supplier,
            "reorder_at": self.reorder_at,
            "status": self.status,
            "weight_g": self.weight_g,
            "stock": self.stock,
            "reserved": self.reserved,
            "free": self.free(),
        })
    }
}

impl Order {
    pub(super) fn total_cents(&self) -> i64 {
        self.lines.iter().map(|line| line.total_cents).sum()
    }

    pub(super) fn line(&self) -> String {
        format!(
            "{}  {}, {}, {}",
            self.number,
            self.customer,
            self.state,
            euros(self.total_cents())
        )
    }

    pub(super) fn row(&self) -> Value {
        json!({
            "order": self.number,
            "customer": self.customer,
            "state": self.state,
            "total_cents": self.total_cents(),
        })
    }

    pub(super) fn whole(&self) -> Value {
        json!({
            "order": self.number,
            "customer": self.customer,
            "state": self.state,
            "total_cents": self.total_cents(),
            "lines": self.lines.iter().map(|line| json!({
                "sku": line.sku,
                "quantity": line.quantity,
                "total_cents": line.total_cents,
            })).collect::<Vec<_>>(),
            "ship_to": self.ship_to,
            "notes": self.notes,
            "tracking": self.tracking,
        })
    }
}

/// Money for people.
pub(super) fn euros(cents: i64) -> String {
    format!("{}.{:02} EUR", cents / 100, (cents % 100).abs())
}

impl Warehouse {
    pub(super) fn item(&mut self, sku: &str) -> Result<&mut Item, String> {
        self.items
            .iter_mut()
            .find(|item| item.sku == sku)
            .ok_or_else(|| format!("There is no item {sku}."))
    }

    pub(super) fn order(&mut self, number: &str) -> Result<&mut Order, String> {
        self.orders
            .iter_mut()
            .find(|order| order.number == number)
            .ok_or_else(|| format!("There is no order {number}."))
    }

    pub(super) fn location(&self, id: &str) -> Result<&Location, String> {
        self.locations
            .iter()
            .find(|location| location.id == id)
            .ok_or_else(|| {
                let ids: Vec<&str> = self.locations.iter().map(|own| own.id).collect();
                format!("There is no location {id}; there are {}.", ids.join(", "))
            })
    }

    pub(super) fn supplier(&self, id: &str) -> Result<&Supplier, String> {
        self.suppliers
            .iter()
            .find(|supplier| supplier.id == id)
            .ok_or_else(|| format!("There is no supplier {id}; see list_suppliers."))
    }

    /// The records as they are at every start.
    #[rustfmt::skip]
    pub(super) fn new() -> Self {
        Self {
            items: vec![
                item("DSK-001", "Standing desk", "furniture", 48_900, "nordwerk", 32_000, &[("hall-1", 9)]),
                item("DSK-002", "Writing desk, oak", "furniture", 36_500, "nordwerk", 28_000, &[("hall-1", 2)]),
                item("CHR-001", "Office chair", "furniture", 21_900, "nordwerk", 14_500, &[("hall-1", 14), ("hall-2", 6)]),
                item("LMP-001", "Desk lamp", "lighting", 4_900, "lumen", 1_200, &[("rack-a", 40), ("packing", 3)]),
                item("LMP-002", "Floor lamp", "lighting", 12_900, "lumen", 5_400, &[("rack-a", 4)]),
                item("MON-001", "Monitor, 27 inch", "electronics", 31_900, "pixelhaus", 6_300, &[("rack-b", 11)]),
                item("KEY-001", "Keyboard", "electronics", 8_900, "pixelhaus", 900, &[("rack-b", 25)]),
                item("NTB-001", "Notebook, A5", "stationery", 590, "papeterie", 210, &[("rack-c", 310)]),
                item("PEN-001", "Gel pen, blue", "stationery", 190, "papeterie", 12, &[("rack-c", 5)]),
                item("MUG-001", "Mug, 0.3 l", "kitchen", 1_190, "papeterie", 350, &[("rack-c", 60)]),
            ],
            locations: vec![
                location("hall-1", "floor", 60),
                location("hall-2", "floor", 60),
                location("rack-a", "rack", 200),
                location("rack-b", "rack", 200),
                location("rack-c", "rack", 800),
                location("packing", "packing", 40),
                location("returns", "returns", 40),
            ],
            suppliers: vec![
                supplier("nordwerk", "Nordwerk", "DK", 21),
                supplier("lumen", "Lumen", "IT", 10),
                supplier("pixelhaus", "Pixelhaus", "DE", 4),
                supplier("papeterie", "Papeterie Roux", "FR", 6),
            ],
            orders: vec![
                order("SO-1001", "Studio Brandt", "open", &[("LMP-001", 2, 9_800), ("DSK-001", 1, 48_900)]),
                order("SO-1002", "Atelier Nouri", "shipped", &[("NTB-001", 20, 11_800)]),
                order("SO-1003", "Kanzlei Vogt", "packed", &[("CHR-001", 4, 87_600)]),
            ],
            purchases: 0,
            shipments: 0,
        }
        .with_reservations()
    }

    /// Reserves what open orders need, and gives the shipped one its number.
    fn with_reservations(mut self) -> Self {
        for order in &mut self.orders {
            if order.state == "shipped" {
                order.tracking.push("TRK500001".to_owned());
                continue;
            }
            for line in &mut order.lines {
                if let Some(item) = self.items.iter_mut().find(|item| item.sku == line.sku) {
                    item.reserved += line.quantity;
                    line.reserved = line.quantity;
                }
            }
        }
        self
    }
}

fn item(
    sku: &str,
    name: &str,
    category: &str,
    price_cents: i64,
    supplier: &str,
    weight_g: i64,
    stock: &[(&str, i64)],
) -> Item {
    Item {
        sku: sku.to_owned(),
        name: name.to_owned(),
        description: String::new(),
        category: category.to_owned(),
        price_cents,
        supplier: Some(supplier.to_owned()),
        reorder_at: 5,
        status: "active".to_owned(),
        stock: stock
            .iter()
            .map(|(location, count)| ((*location).to_owned(), *count))
            .collect(),
        reserved: 0,
        weight_g,
    }
}

fn location(id: &'static str, kind: &'static str, capacity: i64) -> Location {
    Location { id, kind, capacity }
}

fn supplier(
    id: &'static str,
    name: &'static str,
    country: &'static str,
    lead_days: i64,
) -> Supplier {
    Supplier {
        id,
        name,
        country,
        lead_days,
    }
}

fn order(number: &str, customer: &str, state: &str, lines: &[(&str, i64, i64)]) -> Order {
    Order {
        number: number.to_owned(),
        customer: customer.to_owned(),
        lines: lines
            .iter()
            .map(|(sku, quantity, total_cents)| Line {
                sku: (*sku).to_owned(),
                quantity: *quantity,
                total_cents: *total_cents,
                reserved: 0,
            })
            .collect(),
        ship_to: json!({"street": "Hafenstr. 4", "postal_code": "20457", "city": "Hamburg", "country": "DE"}),
        state: state.to_owned(),
        notes: Vec::new(),
        tracking: Vec::new(),
    }
}
