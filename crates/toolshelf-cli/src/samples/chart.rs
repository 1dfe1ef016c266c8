//! A chart as a PNG image, without a library: eight-bit palette, stored blocks.

use base64::Engine as _;

/// White, grey, blue.
const PALETTE: [[u8; 3]; 3] = [[255, 255, 255], [170, 170, 170], [38, 99, 180]];

/// Draws bars of the values, and a line that falls from the first value to zero; returns
/// the PNG in base64.
pub(crate) fn burndown(values: &[u32], width: usize, height: usize) -> String {
    let top = values.iter().copied().max().unwrap_or(0).max(1) as usize;
    let count = values.len().max(1);
    let mut rows = Vec::with_capacity(height * (width + 1));
    for y in 0..height {
        // Each row begins with the number of its filter; 0 is none.
        rows.push(0);
        for x in 0..width {
            let value = values
                .get((x * count / width).min(count - 1))
                .copied()
                .unwrap_or(0) as usize;
            let bar = value * height / top;
            let ideal = values.first().copied().unwrap_or(0) as usize * height * (width - x)
                / (width * top);
            let level = height - y;
            rows.push(if level == ideal {
                1
            } else if level <= bar && x * count % width >= count {
                2
            } else {
                0
            });
        }
    }
    base64::engine::general_purpose::STANDARD.encode(png(width, height, &rows))
}

fn png(width: usize, height: usize, rows: &[u8]) -> Vec<u8> {
    let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_be_bytes();
    let mut header = Vec::new();
    header.extend(size(width));
    header.extend(size(height));
    // Depth 8, palette, and the only methods of compression, filter and interlacing.
    header.extend([8, 3, 0, 0, 0]);
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut out, b"IHDR", &header);
    chunk(&mut out, b"PLTE", PALETTE.as_flattened());
    chunk(&mut out, b"IDAT", &zlib(rows));
    chunk(&mut out, b"IEND", &[]);
    out
}

fn chunk(out: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    out.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_be_bytes());
    let from = out.len();
    out.extend(kind);
    out.extend(data);
    let sum = crc32(&out[from..]);
    out.extend(sum.to_be_bytes());
}

/// A zlib stream. Runs of rows that are equal would compress well, but a chart of this
/// size is a few kilobytes either way.
fn zlib(data: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    let mut blocks = data.chunks(0xffff).peekable();
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        out.push(u8::from(blocks.peek().is_none()));
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(block);
    }
    let (mut a, mut b) = (1u32, 0u32);
    for byte in data {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    out.extend((b << 16 | a).to_be_bytes());
    out
}

fn crc32(data: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in data {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            let carry = sum & 1;
            sum = (sum >> 1) ^ (0xedb8_8320 * carry);
        }
    }
    !sum
}
