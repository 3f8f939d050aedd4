//! Decoding of png and jpeg.
//!
//! Only suites of architectures with images compile the decoders, which take 35 s of processor
//! time.

/// A decoded picture.
pub(crate) struct Picture {
    pub(crate) height: usize,
    pub(crate) width: usize,
    /// [height, width, 3], red first.
    pub(crate) pixels: Vec<u8>,
}

/// Decodes as Pillow's `convert("RGB")` does: alpha is dropped, grey is repeated, of 16 bits a
/// channel the upper 8 are kept. A png is decoded to Pillow's bytes; a jpeg may differ by a few
/// levels, as decoders do.
#[cfg(feature = "image_files")]
pub(crate) fn decode(bytes: &[u8]) -> Result<Picture, String> {
    use image::DynamicImage;

    let picture = image::load_from_memory(bytes).map_err(|error| error.to_string())?;
    let (height, width) = (picture.height() as usize, picture.width() as usize);
    let pixels = match picture {
        DynamicImage::ImageRgb16(picture) => upper_bytes(picture.pixels().map(|pixel| pixel.0)),
        DynamicImage::ImageRgba16(picture) => {
            upper_bytes(picture.pixels().map(|pixel| [pixel[0], pixel[1], pixel[2]]))
        }
        DynamicImage::ImageLuma16(_) | DynamicImage::ImageLumaA16(_) => {
            let problem = "it is grey with 16 bits, which Pillow does not turn into RGB; convert it to 8 bits first";
            return Err(problem.to_owned());
        }
        other => other.into_rgb8().into_raw(),
    };
    Ok(Picture {
        height,
        width,
        pixels,
    })
}

#[cfg(feature = "image_files")]
fn upper_bytes(pixels: impl Iterator<Item = [u16; 3]>) -> Vec<u8> {
    // Pillow takes the upper byte as well, without rounding.
    pixels.flatten().map(|value| (value >> 8) as u8).collect()
}

/// No architecture of this suite has images.
#[cfg(not(feature = "image_files"))]
pub(crate) fn decode(_bytes: &[u8]) -> Result<Picture, String> {
    Err(
        "this suite was built without image files, because none of its architectures has images"
            .to_owned(),
    )
}
