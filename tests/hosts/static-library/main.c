/* A program in C with a tool shelf in it: `cargo xtask hosts` links it with the static library beside it. */

int toolshelf_static_host(void);

int main(void) {
    return toolshelf_static_host();
}
