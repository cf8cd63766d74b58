//! Small pictures: a landscape or a tiled pattern, 64 by 48 points, as PNG.
//!
//! Integers only, so that a seed gives the same bytes on every machine.

use base::chance::Chance;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use std::io::Write as _;

const WIDTH: usize = 64;
const HEIGHT: usize = 48;
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Colours of the sky, from the top to the horizon.
const SKY: usize = 12;
const SUN: u8 = 12;
const COLOURS: usize = 16;

type Colour = [u8; 3];
type Points = [[u8; WIDTH]; HEIGHT];

/// Appends a picture of a few hundred bytes.
pub fn png(seed: u64, out: &mut Vec<u8>) {
    let mut chance = Chance::of(&[seed, 0x0050_4E47]);
    let mood = *chance.pick(&MOODS);
    let mut points = [[0; WIDTH]; HEIGHT];
    if chance.below(3) > 0 {
        landscape(&mut points, &mut chance);
    } else {
        tiles(&mut points, &mut chance);
    }
    out.extend_from_slice(SIGNATURE);
    chunk(out, b"IHDR", &[0, 0, 0, byte(WIDTH), 0, 0, 0, byte(HEIGHT), 8, 3, 0, 0, 0]);
    chunk(out, b"PLTE", palette(&mood).as_flattened());
    chunk(out, b"IDAT", &compress(&points));
    chunk(out, b"IEND", &[]);
}

/// The colours of an hour: the top of the sky, the horizon, the sun, and three hills from far to near.
type Mood = [Colour; 6];

const MOODS: [Mood; 6] = [
    [[60, 130, 200], [220, 238, 248], [255, 244, 200], [140, 178, 190], [96, 146, 120], [52, 98, 74]],
    [[70, 60, 120], [250, 170, 120], [255, 226, 150], [150, 100, 130], [100, 66, 104], [56, 40, 72]],
    [[20, 28, 66], [92, 110, 160], [244, 240, 214], [60, 74, 120], [40, 52, 92], [22, 30, 58]],
    [[150, 196, 190], [250, 240, 214], [250, 200, 140], [190, 200, 150], [140, 164, 100], [90, 120, 70]],
    [[236, 160, 170], [255, 232, 214], [255, 250, 236], [206, 150, 160], [160, 110, 136], [104, 74, 106]],
    [[140, 160, 176], [232, 236, 236], [255, 255, 250], [176, 190, 198], [126, 146, 158], [78, 98, 112]],
];

fn palette(mood: &Mood) -> [Colour; COLOURS] {
    let [top, horizon, rest @ ..] = mood;
    let mut colours = [[0; 3]; COLOURS];
    for (step, colour) in colours.iter_mut().take(SKY).enumerate() {
        for (part, value) in colour.iter_mut().enumerate() {
            let blend = usize::from(top[part]) * (SKY - 1 - step) + usize::from(horizon[part]) * step;
            *value = byte(blend / (SKY - 1));
        }
    }
    colours[SKY..].copy_from_slice(rest);
    colours
}

/// Quarters of a shade, so that neighbouring shades of the sky melt into each other.
const DITHER: [[usize; 2]; 2] = [[0, 2], [3, 1]];

/// A sky, a sun and three rows of hills.
fn landscape(points: &mut Points, chance: &mut Chance) {
    for (row, column) in all_points() {
        let shade = DITHER[row % 2][column % 2] + row * 4 * (SKY - 1) / HEIGHT;
        points[row][column] = byte(shade / 4);
    }
    let (x, y, radius) = (8 + chance.index(48), 8 + chance.index(12), 4 + chance.index(4));
    for (row, column) in all_points() {
        if column.abs_diff(x).pow(2) + row.abs_diff(y).pow(2) <= radius * radius {
            points[row][column] = SUN;
        }
    }
    for (hill, crest) in (0..).zip([18, 27, 36]) {
        let knots = [0; WIDTH / 16 + 1].map(|_: u8| crest + chance.index(10));
        for (row, column) in all_points() {
            if row >= between(&knots, column) {
                points[row][column] = SUN + 1 + hill;
            }
        }
        let trees = 2 + chance.index(5);
        (0..trees).for_each(|_| fir(points, &knots, hill, chance));
    }
}

/// A fir that stands on a hill, smaller where the hill is farther away.
fn fir(points: &mut Points, knots: &Knots, hill: u8, chance: &mut Chance) {
    let (x, tall) = (4 + chance.index(WIDTH - 8), 3 + 2 * usize::from(hill) + chance.index(3));
    let foot = between(knots, x);
    for (row, column) in all_points() {
        let below_tip = (row + tall).saturating_sub(foot);
        if row <= foot && column.abs_diff(x) * 3 < below_tip {
            points[row][column] = SUN + 1 + hill;
        }
    }
}

/// Heights 16 columns apart.
type Knots = [usize; WIDTH / 16 + 1];

/// The height at a column, gliding from each knot to the next.
fn between(knots: &Knots, column: usize) -> usize {
    let (knot, step) = (column / 16, column % 16);
    let glide = step * step * (48 - 2 * step); // 3t² − 2t³, times 16³
    (knots[knot] * (4096 - glide) + knots[knot + 1] * glide) / 4096
}

/// Squares of 8 points, each with a quarter disc in one of its corners.
fn tiles(points: &mut Points, chance: &mut Chance) {
    let kinds = [[0_u8; WIDTH / 8]; HEIGHT / 8].map(|row| row.map(|_| byte(chance.index(64))));
    for (row, column) in all_points() {
        let kind = kinds[row / 8][column / 8];
        let flip = |place: usize, yes: bool| if yes { 7 - place % 8 } else { place % 8 };
        let (x, y) = (flip(column, kind & 1 > 0), flip(row, kind & 2 > 0));
        let ground = [2, 6, 10, 11][usize::from(kind >> 2 & 3)];
        let disc = SUN + (kind >> 4 & 3);
        points[row][column] = if x * x + y * y < 50 { disc } else { ground };
    }
}

fn byte(value: usize) -> u8 {
    u8::try_from(value).expect("sizes and colours are small")
}

fn all_points() -> impl Iterator<Item = (usize, usize)> {
    (0..HEIGHT).flat_map(|row| (0..WIDTH).map(move |column| (row, column)))
}

fn compress(points: &Points) -> Vec<u8> {
    const NO_FILTER: u8 = 0;
    let mut lines = [[NO_FILTER; WIDTH + 1]; HEIGHT];
    for (line, row) in lines.iter_mut().zip(points) {
        line[1..].copy_from_slice(row);
    }
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(1024), Compression::default());
    encoder.write_all(lines.as_flattened()).expect("writing to memory");
    encoder.finish().expect("writing to memory")
}

fn chunk(out: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    let mut crc = Crc::new();
    crc.update(kind);
    crc.update(data);
    let length = u32::try_from(data.len()).expect("a picture is small");
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(kind);
    out.extend_from_slice(data);
    out.extend_from_slice(&crc.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::io::Read as _;

    fn picture(seed: u64) -> Vec<u8> {
        let mut out = Vec::new();
        png(seed, &mut out);
        out
    }

    /// The chunks after the signature, their checksums proved.
    fn chunks(mut rest: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let (kind_and_data, after) = after.split_at(4 + u32::from_be_bytes(*length) as usize);
            let (sum, after) = after.split_first_chunk::<4>().unwrap();
            let mut crc = Crc::new();
            crc.update(kind_and_data);
            assert_eq!(crc.sum(), u32::from_be_bytes(*sum));
            let (kind, data) = kind_and_data.split_at(4);
            found.push((String::from_utf8(kind.to_vec()).unwrap(), data.to_vec()));
            rest = after;
        }
        found
    }

    #[test]
    fn a_picture_is_a_small_valid_png() {
        for seed in 0..500 {
            let bytes = picture(seed);
            assert!((300..1_200).contains(&bytes.len()), "seed {seed}: {} bytes", bytes.len());
            let chunks = chunks(bytes.strip_prefix(SIGNATURE).unwrap());
            let kinds: Vec<_> = chunks.iter().map(|(kind, _)| kind.as_str()).collect();
            assert_eq!(kinds, ["IHDR", "PLTE", "IDAT", "IEND"]);
            let mut lines = Vec::new();
            flate2::read::ZlibDecoder::new(&*chunks[2].1).read_to_end(&mut lines).unwrap();
            assert_eq!(lines.len(), HEIGHT * (WIDTH + 1));
            assert!(lines.iter().all(|point| usize::from(*point) < COLOURS));
        }
    }

    #[test]
    fn a_seed_gives_one_picture_and_another_seed_another() {
        let pictures: HashSet<_> = (0..500).map(picture).collect();
        assert!(pictures.len() > 490, "{}", pictures.len());
        assert_eq!(picture(7), picture(7));
    }
}
