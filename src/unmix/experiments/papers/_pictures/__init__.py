"""What the tables about images share: twins, models, codes that are kept, and scores with their floors."""
